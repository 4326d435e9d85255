/** The HTTP side of the API server. */
export type { HealthCheck } from './health.ts'
export { createHttpServer, type HttpServer, type HttpServerOptions, type Listening } from './server.ts'
export { serverVersion } from './version.ts'
