import type { ServerResponse as NodeServerResponse } from 'node:http'

/**
 * Node.js's `ServerResponse`, as a value. Not imported: an import of `node:http` reads all that the module exports, and for
 * `WebSocket` Node.js loads its HTTP client, which takes 40 ms of CPU at each start.
 */
export const { ServerResponse } = process.getBuiltinModule('node:http')
export type ServerResponse = NodeServerResponse
