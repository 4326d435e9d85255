/** Calls over gRPC, with messages as tables of their fields. Loaded by those who use it: the library for gRPC is large. */
export { type CallOptions, callForStream, callUnary, isServiceError, type Method } from './call.ts'
export { complete, type Decoded, decode, type Encodable, encode, type Message, message } from './message.ts'
export { RpcError, rpcCodes } from './rpc-error.ts'
export { type SocketCallLimits, SocketConnection } from './socket-connection.ts'
export { type AnsweredMethod, answering, type SocketServer, serveAtSocket } from './socket-server.ts'
