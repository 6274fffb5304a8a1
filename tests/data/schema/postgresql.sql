COLUMN alembic_version version_num character varying(32) NOT NULL
COLUMN api_keys id character varying(40) NOT NULL
COLUMN api_keys tenant character varying(64) NOT NULL
COLUMN api_keys name character varying(255) NOT NULL
COLUMN api_keys digest character varying(64) NOT NULL
COLUMN api_keys scopes jsonb NOT NULL
COLUMN api_keys slot integer
COLUMN api_keys created_at timestamp with time zone NOT NULL
COLUMN api_keys expires_at timestamp with time zone NOT NULL
COLUMN api_keys revoked_at timestamp with time zone
COLUMN api_keys last_used_at timestamp with time zone
COLUMN audit_log id character varying(40) NOT NULL
COLUMN audit_log tenant character varying(64) NOT NULL
COLUMN audit_log created_at timestamp with time zone NOT NULL
COLUMN audit_log actor jsonb NOT NULL
COLUMN audit_log actor_id character varying(255) NOT NULL
COLUMN audit_log address character varying(64)
COLUMN audit_log request_id character varying(64)
COLUMN audit_log action character varying(32) NOT NULL
COLUMN audit_log object_id character varying(40) NOT NULL
COLUMN audit_log details jsonb NOT NULL
COLUMN compatibility oldest character varying(32) NOT NULL
COLUMN counters name character varying(32) NOT NULL
COLUMN counters label character varying(32) NOT NULL
COLUMN counters value double precision NOT NULL
COLUMN datasets id character varying(40) NOT NULL
COLUMN datasets tenant character varying(64) NOT NULL
COLUMN datasets status character varying(16) NOT NULL
COLUMN datasets name character varying(255)
COLUMN datasets format character varying(16) NOT NULL
COLUMN datasets options jsonb NOT NULL
COLUMN datasets content_key character varying(64) NOT NULL
COLUMN datasets sha256 character varying(64) NOT NULL
COLUMN datasets n_bytes bigint NOT NULL
COLUMN datasets n_rows bigint
COLUMN datasets n_columns integer
COLUMN datasets columns jsonb
COLUMN datasets reason text
COLUMN datasets created_at timestamp with time zone NOT NULL
COLUMN datasets finished_at timestamp with time zone
COLUMN datasets attempt integer NOT NULL
COLUMN datasets owner character varying(64)
COLUMN datasets lease_until timestamp with time zone
COLUMN datasets available_at timestamp with time zone NOT NULL
COLUMN datasets enqueued_at timestamp with time zone NOT NULL
COLUMN datasets source jsonb
COLUMN datasets origin jsonb
COLUMN datasets progress double precision
COLUMN datasets version integer NOT NULL DEFAULT 1
COLUMN datasets previous_id character varying(40)
COLUMN datasets labels jsonb NOT NULL DEFAULT '{}'::jsonb
COLUMN datasets submitted_by jsonb
COLUMN job_checkpoints job_id character varying(40) NOT NULL
COLUMN job_checkpoints phase character varying(16) NOT NULL
COLUMN job_checkpoints tenant character varying(64) NOT NULL
COLUMN job_checkpoints version character varying(64) NOT NULL
COLUMN job_checkpoints arrays bytea NOT NULL
COLUMN job_deliveries job_id character varying(40) NOT NULL
COLUMN job_deliveries tenant character varying(64) NOT NULL
COLUMN job_deliveries destination jsonb NOT NULL
COLUMN job_deliveries created_at timestamp with time zone NOT NULL
COLUMN job_deliveries attempt integer NOT NULL
COLUMN job_deliveries owner character varying(64)
COLUMN job_deliveries lease_until timestamp with time zone
COLUMN job_deliveries available_at timestamp with time zone NOT NULL
COLUMN job_deliveries status character varying(16) NOT NULL
COLUMN job_events job_id character varying(40) NOT NULL
COLUMN job_events seq integer NOT NULL
COLUMN job_events tenant character varying(64) NOT NULL
COLUMN job_events at timestamp with time zone NOT NULL
COLUMN job_events kind character varying(32) NOT NULL
COLUMN job_events data jsonb NOT NULL
COLUMN job_results job_id character varying(40) NOT NULL
COLUMN job_results tenant character varying(64) NOT NULL
COLUMN job_results created_at timestamp with time zone NOT NULL
COLUMN job_results document jsonb NOT NULL
COLUMN job_results arrays bytea
COLUMN job_units job_id character varying(40) NOT NULL
COLUMN job_units number integer NOT NULL
COLUMN job_units tenant character varying(64) NOT NULL
COLUMN job_units status character varying(16) NOT NULL
COLUMN job_units task jsonb NOT NULL
COLUMN job_units progress double precision NOT NULL
COLUMN job_units output jsonb
COLUMN job_units arrays bytea
COLUMN job_units error jsonb
COLUMN job_units attempt integer NOT NULL
COLUMN job_units owner character varying(64)
COLUMN job_units lease_until timestamp with time zone
COLUMN job_units available_at timestamp with time zone NOT NULL
COLUMN job_units enqueued_at timestamp with time zone NOT NULL
COLUMN jobs id character varying(40) NOT NULL
COLUMN jobs tenant character varying(64) NOT NULL
COLUMN jobs dataset_id character varying(40) NOT NULL
COLUMN jobs status character varying(16) NOT NULL
COLUMN jobs specification jsonb NOT NULL
COLUMN jobs labels jsonb NOT NULL
COLUMN jobs idempotency_key character varying(255)
COLUMN jobs request_hash character varying(64) NOT NULL
COLUMN jobs version integer NOT NULL
COLUMN jobs n_events integer NOT NULL
COLUMN jobs phase character varying(16)
COLUMN jobs progress double precision NOT NULL
COLUMN jobs loglik double precision
COLUMN jobs chosen jsonb NOT NULL
COLUMN jobs phase_seconds jsonb NOT NULL
COLUMN jobs error jsonb
COLUMN jobs created_at timestamp with time zone NOT NULL
COLUMN jobs started_at timestamp with time zone
COLUMN jobs finished_at timestamp with time zone
COLUMN jobs cancel_requested_at timestamp with time zone
COLUMN jobs deadline_at timestamp with time zone NOT NULL
COLUMN jobs attempt integer NOT NULL
COLUMN jobs owner character varying(64)
COLUMN jobs lease_until timestamp with time zone
COLUMN jobs available_at timestamp with time zone NOT NULL
COLUMN jobs enqueued_at timestamp with time zone NOT NULL
COLUMN jobs n_units integer NOT NULL DEFAULT 0
COLUMN jobs n_units_done integer NOT NULL DEFAULT 0
COLUMN jobs priority integer NOT NULL DEFAULT 1
COLUMN jobs title character varying(255)
COLUMN jobs trace jsonb
COLUMN jobs submitted_by jsonb
COLUMN jobs delivery jsonb
COLUMN jobs seconds_left double precision
COLUMN jobs keep_requested_at timestamp with time zone
COLUMN jobs partial boolean NOT NULL DEFAULT false
COLUMN upload_reservations id character varying(40) NOT NULL
COLUMN upload_reservations tenant character varying(64) NOT NULL
COLUMN upload_reservations n_bytes bigint NOT NULL
COLUMN upload_reservations until timestamp with time zone NOT NULL
COLUMN webhook_deliveries id character varying(40) NOT NULL
COLUMN webhook_deliveries webhook_id character varying(40) NOT NULL
COLUMN webhook_deliveries tenant character varying(64) NOT NULL
COLUMN webhook_deliveries event_id character varying(40) NOT NULL
COLUMN webhook_deliveries event character varying(32) NOT NULL
COLUMN webhook_deliveries subject character varying(40) NOT NULL
COLUMN webhook_deliveries body text NOT NULL
COLUMN webhook_deliveries status character varying(16) NOT NULL
COLUMN webhook_deliveries attempts integer NOT NULL
COLUMN webhook_deliveries next_at timestamp with time zone NOT NULL
COLUMN webhook_deliveries pending_since timestamp with time zone NOT NULL
COLUMN webhook_deliveries last_status integer
COLUMN webhook_deliveries last_error text
COLUMN webhook_deliveries created_at timestamp with time zone NOT NULL
COLUMN webhook_deliveries tried_at timestamp with time zone
COLUMN webhook_deliveries delivered_at timestamp with time zone
COLUMN webhook_deliveries trace jsonb
COLUMN webhooks id character varying(40) NOT NULL
COLUMN webhooks tenant character varying(64) NOT NULL
COLUMN webhooks url character varying(1024) NOT NULL
COLUMN webhooks name character varying(255) NOT NULL
COLUMN webhooks events jsonb NOT NULL
COLUMN webhooks labels jsonb NOT NULL
COLUMN webhooks named_at timestamp with time zone
COLUMN webhooks secret character varying(64) NOT NULL
COLUMN webhooks previous_secret character varying(64)
COLUMN webhooks previous_until timestamp with time zone
COLUMN webhooks n_failures integer NOT NULL
COLUMN webhooks failing_since timestamp with time zone
COLUMN webhooks off_reason text
COLUMN webhooks created_at timestamp with time zone NOT NULL
COLUMN webhooks attempt integer NOT NULL
COLUMN webhooks owner character varying(64)
COLUMN webhooks lease_until timestamp with time zone
COLUMN webhooks available_at timestamp with time zone NOT NULL
COLUMN webhooks status character varying(16) NOT NULL
COLUMN worker_speed id integer NOT NULL
COLUMN worker_speed nanoseconds jsonb NOT NULL
COLUMN worker_speed n_threads integer NOT NULL
COLUMN worker_speed measured_at timestamp with time zone NOT NULL
CONSTRAINT alembic_version_pkc alembic_version PRIMARY KEY (version_num)
CONSTRAINT fk_job_checkpoints_job_id job_checkpoints FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
CONSTRAINT fk_job_deliveries_job_id job_deliveries FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
CONSTRAINT fk_job_events_job_id job_events FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
CONSTRAINT fk_job_results_job_id job_results FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
CONSTRAINT fk_job_units_job_id job_units FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
CONSTRAINT fk_webhook_deliveries_webhook_id webhook_deliveries FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
CONSTRAINT pk_api_keys api_keys PRIMARY KEY (id)
CONSTRAINT pk_audit_log audit_log PRIMARY KEY (id)
CONSTRAINT pk_compatibility compatibility PRIMARY KEY (oldest)
CONSTRAINT pk_counters counters PRIMARY KEY (name, label)
CONSTRAINT pk_datasets datasets PRIMARY KEY (id)
CONSTRAINT pk_job_checkpoints job_checkpoints PRIMARY KEY (job_id, phase)
CONSTRAINT pk_job_deliveries job_deliveries PRIMARY KEY (job_id)
CONSTRAINT pk_job_events job_events PRIMARY KEY (job_id, seq)
CONSTRAINT pk_job_results job_results PRIMARY KEY (job_id)
CONSTRAINT pk_job_units job_units PRIMARY KEY (job_id, number)
CONSTRAINT pk_jobs jobs PRIMARY KEY (id)
CONSTRAINT pk_upload_reservations upload_reservations PRIMARY KEY (id)
CONSTRAINT pk_webhook_deliveries webhook_deliveries PRIMARY KEY (id)
CONSTRAINT pk_webhooks webhooks PRIMARY KEY (id)
CONSTRAINT pk_worker_speed worker_speed PRIMARY KEY (id)
CONSTRAINT uq_api_keys_tenant_slot api_keys UNIQUE (tenant, slot)
CONSTRAINT uq_datasets_tenant_content_key datasets UNIQUE (tenant, content_key)
CONSTRAINT uq_jobs_tenant_idempotency_key jobs UNIQUE (tenant, idempotency_key)
CONSTRAINT uq_webhooks_tenant_url webhooks UNIQUE (tenant, url)
CREATE UNIQUE INDEX alembic_version_pkc ON public.alembic_version USING btree (version_num)
CREATE INDEX ix_audit_log_created_at ON public.audit_log USING btree (created_at)
CREATE INDEX ix_audit_log_tenant_created_at_id ON public.audit_log USING btree (tenant, created_at, id)
CREATE INDEX ix_audit_log_tenant_object_id ON public.audit_log USING btree (tenant, object_id)
CREATE INDEX ix_datasets_status_available_at ON public.datasets USING btree (status, available_at)
CREATE INDEX ix_datasets_tenant_created_at_id ON public.datasets USING btree (tenant, created_at, id)
CREATE INDEX ix_job_deliveries_status_available_at ON public.job_deliveries USING btree (status, available_at)
CREATE INDEX ix_job_units_status_lease_until ON public.job_units USING btree (status, lease_until)
CREATE INDEX ix_jobs_dataset_id ON public.jobs USING btree (dataset_id)
CREATE INDEX ix_jobs_started_at ON public.jobs USING btree (started_at)
CREATE INDEX ix_jobs_status_available_at ON public.jobs USING btree (status, available_at)
CREATE INDEX ix_jobs_tenant_created_at_id ON public.jobs USING btree (tenant, created_at, id)
CREATE INDEX ix_upload_reservations_tenant ON public.upload_reservations USING btree (tenant)
CREATE INDEX ix_webhook_deliveries_status_pending_since ON public.webhook_deliveries USING btree (status, pending_since)
CREATE INDEX ix_webhook_deliveries_webhook_id_created_at_id ON public.webhook_deliveries USING btree (webhook_id, created_at, id)
CREATE INDEX ix_webhook_deliveries_webhook_id_status_next_at ON public.webhook_deliveries USING btree (webhook_id, status, next_at)
CREATE INDEX ix_webhook_deliveries_webhook_id_subject_status ON public.webhook_deliveries USING btree (webhook_id, subject, status)
CREATE INDEX ix_webhooks_status_available_at ON public.webhooks USING btree (status, available_at)
CREATE UNIQUE INDEX pk_api_keys ON public.api_keys USING btree (id)
CREATE UNIQUE INDEX pk_audit_log ON public.audit_log USING btree (id)
CREATE UNIQUE INDEX pk_compatibility ON public.compatibility USING btree (oldest)
CREATE UNIQUE INDEX pk_counters ON public.counters USING btree (name, label)
CREATE UNIQUE INDEX pk_datasets ON public.datasets USING btree (id)
CREATE UNIQUE INDEX pk_job_checkpoints ON public.job_checkpoints USING btree (job_id, phase)
CREATE UNIQUE INDEX pk_job_deliveries ON public.job_deliveries USING btree (job_id)
CREATE UNIQUE INDEX pk_job_events ON public.job_events USING btree (job_id, seq)
CREATE UNIQUE INDEX pk_job_results ON public.job_results USING btree (job_id)
CREATE UNIQUE INDEX pk_job_units ON public.job_units USING btree (job_id, number)
CREATE UNIQUE INDEX pk_jobs ON public.jobs USING btree (id)
CREATE UNIQUE INDEX pk_upload_reservations ON public.upload_reservations USING btree (id)
CREATE UNIQUE INDEX pk_webhook_deliveries ON public.webhook_deliveries USING btree (id)
CREATE UNIQUE INDEX pk_webhooks ON public.webhooks USING btree (id)
CREATE UNIQUE INDEX pk_worker_speed ON public.worker_speed USING btree (id)
CREATE UNIQUE INDEX uq_api_keys_tenant_slot ON public.api_keys USING btree (tenant, slot)
CREATE UNIQUE INDEX uq_datasets_tenant_content_key ON public.datasets USING btree (tenant, content_key)
CREATE UNIQUE INDEX uq_jobs_tenant_idempotency_key ON public.jobs USING btree (tenant, idempotency_key)
CREATE UNIQUE INDEX uq_webhooks_tenant_url ON public.webhooks USING btree (tenant, url)
POLICY tenant api_keys PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY retention audit_log RESTRICTIVE {public} DELETE USING (current_setting('pith.tenant'::text, true) = '*'::text)
POLICY tenant audit_log PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant datasets PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant job_checkpoints PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant job_deliveries PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant job_events PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant job_results PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant job_units PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant jobs PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant upload_reservations PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant webhook_deliveries PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
POLICY tenant webhooks PERMISSIVE {public} ALL USING ((current_setting('pith.tenant'::text, true) = (tenant)::text) OR (current_setting('pith.tenant'::text, true) = '*'::text))
ROW SECURITY api_keys FORCED
ROW SECURITY audit_log FORCED
ROW SECURITY datasets FORCED
ROW SECURITY job_checkpoints FORCED
ROW SECURITY job_deliveries FORCED
ROW SECURITY job_events FORCED
ROW SECURITY job_results FORCED
ROW SECURITY job_units FORCED
ROW SECURITY jobs FORCED
ROW SECURITY upload_reservations FORCED
ROW SECURITY webhook_deliveries FORCED
ROW SECURITY webhooks FORCED
CREATE TRIGGER audit_log_rows BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_only_grows()
CREATE TRIGGER audit_log_whole BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows()
CREATE OR REPLACE FUNCTION public.audit_log_only_grows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.created_at < statement_timestamp() - interval '30 days' THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit_log is append-only';
END
$function$
