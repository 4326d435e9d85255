/** The protocols of exec, attach and port-forward: byte streams over WebSockets and over SPDY/3.1, for both ends. */

export type { WebSocket } from 'ws'
export { acceptWebSocket } from './accept-web-socket.ts'
export { ChannelSocket, type ChannelSocketOptions, channelBytesMax, messageBytesMax } from './channel-socket.ts'
export { attachToPod, type CommandRequest, type ExecRequest, execInPod } from './command-client.ts'
export type {
  AttachOptions,
  CommandStreams,
  ExecOptions,
  ForwardPort,
  RunCommand,
  TerminalSize,
} from './command-streams.ts'
export { IdleTimer } from './idle-timer.ts'
export { type Negotiated, negotiate, negotiatedWebSocket, wantedWebSocketProtocols } from './negotiation.ts'
export type { OpenedSpdy } from './open-spdy.ts'
export {
  type ForwardedConnection,
  openPortForward,
  openPortForwardAt,
  type PortForward,
} from './port-forward-client.ts'
export * from './protocols.ts'
export { openRemoteStreams, type RemoteStreams } from './remote-streams.ts'
export { idleTimeoutMs, negotiateService, type StreamsParts, serveUpgraded } from './serve-upgraded.ts'
export type { SpdyHeaders } from './spdy/headers.ts'
export { SpdySession, type SpdySessionOptions, spdyStreamsMax } from './spdy/spdy-session.ts'
export type { SpdyStream } from './spdy/spdy-stream.ts'
export { openPortForwardAtUrl, runCommandAtUrl } from './streaming-server.ts'
export type { CommandOptions, StreamingService } from './streaming-service.ts'
export { readTerminalSizes, terminalSizeText } from './terminal-sizes.ts'
export { tunnelOf } from './tunnel.ts'
export { UpgradeError } from './upgrade-error.ts'
