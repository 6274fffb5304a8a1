CREATE TRIGGER audit_log_delete BEFORE DELETE ON audit_log
WHEN OLD.created_at >= strftime('%Y-%m-%d %H:%M:%S', 'now', '-30 days')
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END
CREATE TRIGGER audit_log_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
CREATE TABLE api_keys (
	id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	name VARCHAR(255) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	scopes JSON NOT NULL,
	slot INTEGER,
	created_at DATETIME NOT NULL,
	expires_at DATETIME NOT NULL,
	revoked_at DATETIME,
	last_used_at DATETIME,
	CONSTRAINT pk_api_keys PRIMARY KEY (id),
	CONSTRAINT uq_api_keys_tenant_slot UNIQUE (tenant, slot)
)
CREATE TABLE audit_log (
	id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	created_at DATETIME NOT NULL,
	actor JSON NOT NULL,
	actor_id VARCHAR(255) NOT NULL,
	address VARCHAR(64),
	request_id VARCHAR(64),
	action VARCHAR(32) NOT NULL,
	object_id VARCHAR(40) NOT NULL,
	details JSON NOT NULL,
	CONSTRAINT pk_audit_log PRIMARY KEY (id)
)
CREATE TABLE compatibility (
	oldest VARCHAR(32) NOT NULL,
	CONSTRAINT pk_compatibility PRIMARY KEY (oldest)
)
CREATE TABLE counters (
	name VARCHAR(32) NOT NULL,
	label VARCHAR(32) NOT NULL,
	value DOUBLE NOT NULL,
	CONSTRAINT pk_counters PRIMARY KEY (name, label)
)
CREATE TABLE datasets (
	id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	status VARCHAR(16) NOT NULL,
	name VARCHAR(255),
	format VARCHAR(16) NOT NULL,
	options JSON NOT NULL,
	content_key VARCHAR(64) NOT NULL,
	sha256 VARCHAR(64) NOT NULL,
	n_bytes BIGINT NOT NULL,
	n_rows BIGINT,
	n_columns INTEGER,
	columns JSON,
	reason TEXT,
	created_at DATETIME NOT NULL,
	finished_at DATETIME,
	attempt INTEGER NOT NULL,
	owner VARCHAR(64),
	lease_until DATETIME,
	available_at DATETIME NOT NULL,
	enqueued_at DATETIME NOT NULL, source JSON, origin JSON, progress DOUBLE, version INTEGER DEFAULT '1' NOT NULL, previous_id VARCHAR(40), labels JSON DEFAULT '{}' NOT NULL, submitted_by JSON,
	CONSTRAINT pk_datasets PRIMARY KEY (id),
	CONSTRAINT uq_datasets_tenant_content_key UNIQUE (tenant, content_key)
)
CREATE TABLE job_checkpoints (
	job_id VARCHAR(40) NOT NULL,
	phase VARCHAR(16) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	version VARCHAR(64) NOT NULL,
	arrays BLOB NOT NULL,
	CONSTRAINT pk_job_checkpoints PRIMARY KEY (job_id, phase),
	CONSTRAINT fk_job_checkpoints_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
)
CREATE TABLE job_deliveries (
	job_id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	destination JSON NOT NULL,
	created_at DATETIME NOT NULL,
	attempt INTEGER NOT NULL,
	owner VARCHAR(64),
	lease_until DATETIME,
	available_at DATETIME NOT NULL,
	status VARCHAR(16) NOT NULL,
	CONSTRAINT pk_job_deliveries PRIMARY KEY (job_id),
	CONSTRAINT fk_job_deliveries_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
)
CREATE TABLE job_events (
	job_id VARCHAR(40) NOT NULL,
	seq INTEGER NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	at DATETIME NOT NULL,
	kind VARCHAR(32) NOT NULL,
	data JSON NOT NULL,
	CONSTRAINT pk_job_events PRIMARY KEY (job_id, seq),
	CONSTRAINT fk_job_events_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
)
CREATE TABLE job_results (
	job_id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	created_at DATETIME NOT NULL,
	document JSON NOT NULL,
	arrays BLOB,
	CONSTRAINT pk_job_results PRIMARY KEY (job_id),
	CONSTRAINT fk_job_results_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
)
CREATE TABLE job_units (
	job_id VARCHAR(40) NOT NULL,
	number INTEGER NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	status VARCHAR(16) NOT NULL,
	task JSON NOT NULL,
	progress DOUBLE NOT NULL,
	output JSON,
	arrays BLOB,
	error JSON,
	attempt INTEGER NOT NULL,
	owner VARCHAR(64),
	lease_until DATETIME,
	available_at DATETIME NOT NULL,
	enqueued_at DATETIME NOT NULL,
	CONSTRAINT pk_job_units PRIMARY KEY (job_id, number),
	CONSTRAINT fk_job_units_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
)
CREATE TABLE jobs (
	id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	dataset_id VARCHAR(40) NOT NULL,
	status VARCHAR(16) NOT NULL,
	specification JSON NOT NULL,
	labels JSON NOT NULL,
	idempotency_key VARCHAR(255),
	request_hash VARCHAR(64) NOT NULL,
	version INTEGER NOT NULL,
	n_events INTEGER NOT NULL,
	phase VARCHAR(16),
	progress DOUBLE NOT NULL,
	loglik DOUBLE,
	chosen JSON NOT NULL,
	phase_seconds JSON NOT NULL,
	error JSON,
	created_at DATETIME NOT NULL,
	started_at DATETIME,
	finished_at DATETIME,
	cancel_requested_at DATETIME,
	deadline_at DATETIME NOT NULL,
	attempt INTEGER NOT NULL,
	owner VARCHAR(64),
	lease_until DATETIME,
	available_at DATETIME NOT NULL,
	enqueued_at DATETIME NOT NULL, n_units INTEGER DEFAULT '0' NOT NULL, n_units_done INTEGER DEFAULT '0' NOT NULL, priority INTEGER DEFAULT '1' NOT NULL, title VARCHAR(255), trace JSON, submitted_by JSON, delivery JSON, seconds_left DOUBLE, keep_requested_at DATETIME, partial BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_jobs PRIMARY KEY (id),
	CONSTRAINT uq_jobs_tenant_idempotency_key UNIQUE (tenant, idempotency_key)
)
CREATE TABLE upload_reservations (
	id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	n_bytes BIGINT NOT NULL,
	until DATETIME NOT NULL,
	CONSTRAINT pk_upload_reservations PRIMARY KEY (id)
)
CREATE TABLE webhook_deliveries (
	id VARCHAR(40) NOT NULL,
	webhook_id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	event_id VARCHAR(40) NOT NULL,
	event VARCHAR(32) NOT NULL,
	subject VARCHAR(40) NOT NULL,
	body TEXT NOT NULL,
	status VARCHAR(16) NOT NULL,
	attempts INTEGER NOT NULL,
	next_at DATETIME NOT NULL,
	pending_since DATETIME NOT NULL,
	last_status INTEGER,
	last_error TEXT,
	created_at DATETIME NOT NULL,
	tried_at DATETIME,
	delivered_at DATETIME, trace JSON,
	CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id),
	CONSTRAINT fk_webhook_deliveries_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
)
CREATE TABLE webhooks (
	id VARCHAR(40) NOT NULL,
	tenant VARCHAR(64) NOT NULL,
	url VARCHAR(1024) NOT NULL,
	name VARCHAR(255) NOT NULL,
	events JSON NOT NULL,
	labels JSON NOT NULL,
	named_at DATETIME,
	secret VARCHAR(64) NOT NULL,
	previous_secret VARCHAR(64),
	previous_until DATETIME,
	n_failures INTEGER NOT NULL,
	failing_since DATETIME,
	off_reason TEXT,
	created_at DATETIME NOT NULL,
	attempt INTEGER NOT NULL,
	owner VARCHAR(64),
	lease_until DATETIME,
	available_at DATETIME NOT NULL,
	status VARCHAR(16) NOT NULL,
	CONSTRAINT pk_webhooks PRIMARY KEY (id),
	CONSTRAINT uq_webhooks_tenant_url UNIQUE (tenant, url)
)
CREATE TABLE worker_speed (
	id INTEGER NOT NULL,
	nanoseconds JSON NOT NULL,
	n_threads INTEGER NOT NULL,
	measured_at DATETIME NOT NULL,
	CONSTRAINT pk_worker_speed PRIMARY KEY (id)
)
CREATE INDEX ix_audit_log_created_at ON audit_log (created_at)
CREATE INDEX ix_audit_log_tenant_created_at_id ON audit_log (tenant, created_at, id)
CREATE INDEX ix_audit_log_tenant_object_id ON audit_log (tenant, object_id)
CREATE INDEX ix_datasets_status_available_at ON datasets (status, available_at)
CREATE INDEX ix_datasets_tenant_created_at_id ON datasets (tenant, created_at, id)
CREATE INDEX ix_job_deliveries_status_available_at ON job_deliveries (status, available_at)
CREATE INDEX ix_job_units_status_lease_until ON job_units (status, lease_until)
CREATE INDEX ix_jobs_dataset_id ON jobs (dataset_id)
CREATE INDEX ix_jobs_started_at ON jobs (started_at)
CREATE INDEX ix_jobs_status_available_at ON jobs (status, available_at)
CREATE INDEX ix_jobs_tenant_created_at_id ON jobs (tenant, created_at, id)
CREATE INDEX ix_upload_reservations_tenant ON upload_reservations (tenant)
CREATE INDEX ix_webhook_deliveries_status_pending_since ON webhook_deliveries (status, pending_since)
CREATE INDEX ix_webhook_deliveries_webhook_id_created_at_id ON webhook_deliveries (webhook_id, created_at, id)
CREATE INDEX ix_webhook_deliveries_webhook_id_status_next_at ON webhook_deliveries (webhook_id, status, next_at)
CREATE INDEX ix_webhook_deliveries_webhook_id_subject_status ON webhook_deliveries (webhook_id, subject, status)
CREATE INDEX ix_webhooks_status_available_at ON webhooks (status, available_at)
