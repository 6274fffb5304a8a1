// What the page may ask of the service and what it is answered. The types of "openapi" are made from
// openapi.json by `make lint`: a path, a parameter or a field that the service has not is an error there.

import type { JobRead, paths, Selected, Specification } from "openapi";

export type * from "openapi";

type Method = "get" | "post" | "patch" | "delete";

/** The paths that take a method. */
export type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

type Part<Given> = [NonNullable<Given>] extends [never] ? object : NonNullable<Given>;

/** What fills the braces of a path, and what stands behind its question mark. */
export type Params<P extends keyof paths, M extends Method> = object &
  (paths[P][M] extends { parameters: { path?: infer Path; query?: infer Query } }
    ? Part<Path> & Part<Query>
    : never);

type Json<Response> = Response extends { content: { "application/json": infer Body } } ? Body : never;

/** The document that a request is answered with. */
export type Answered<P extends keyof paths, M extends Method> = paths[P][M] extends { responses: infer Given }
  ? Given extends { 202: infer Accepted }
    ? Json<Accepted>
    : Given extends { 200: infer Found }
      ? Json<Found>
      : never
  : never;

export type Phase = NonNullable<JobRead["phase"]>;

/** What ran is on record: nothing is left to a default. */
export type Completed = Specification & Required<Pick<Specification, "method">>;

/** A gain that is no finite number is null. */
export type Chosen = Pick<Selected, "rank" | "name" | "mi_label"> & { gain: number | null };

/** What the stream of a job tells; `data` goes by `kind`. */
export type JobEvent = { seq: number; at: string } & (
  | { kind: "started"; data: object }
  | { kind: "loglik"; data: { loglik: number } }
  | { kind: "selected"; data: Chosen }
  | { kind: "unit_succeeded"; data: { method?: string; accuracy?: number } }
);

/** A view is left when `signal` says so. */
export interface Place {
  id: string;
  query: URLSearchParams;
  signal: AbortSignal;
}
