/** The HTTP side of the API server. */
export { createHttpServer, type HttpServer, type HttpServerOptions, type Listening } from './server.ts'
export { serverVersion } from './version.ts'
