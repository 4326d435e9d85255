/** The HTTP side of the API server. */

export type { ConnectToPod } from './pod-relay.ts'
export { createHttpServer, type HttpServer, type HttpServerOptions, type Listening } from './server.ts'
export { serverVersion } from './version.ts'
