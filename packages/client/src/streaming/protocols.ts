/** Subprotocols of exec and attach over a WebSocket, the best first: v5 can end the input, v4 and later have a Status for the outcome. */
export const commandChannelProtocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'v3.base64.channel.k8s.io',
  'v2.base64.channel.k8s.io',
  'base64.channel.k8s.io',
] as const

/** The same over SPDY. */
export const commandSpdyProtocols = [
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const

/** Channels of exec and attach over a WebSocket. */
export const commandChannels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

/** Port-forward over SPDY: any number of connections to any ports. */
export const portForwardSpdyProtocol = 'portforward.k8s.io'

/** The same, with the bytes of the SPDY session as messages of a WebSocket (KEP-4006). */
export const portForwardTunnelProtocol = 'SPDY/3.1+portforward.k8s.io'

/** One connection to each of the ports in the query, each with a channel for data and one for what goes wrong. */
export const portForwardChannelProtocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'] as const

/** Headers of SPDY streams, and the types a stream may have. */
export const streamHeaders = { type: 'streamtype', port: 'port', request: 'requestid' } as const

/** Where the subprotocols of a SPDY connection are negotiated. */
export const spdyProtocolHeader = 'x-stream-protocol-version'

/** The version in the name of a protocol: `v4.channel.k8s.io` is 4, `channel.k8s.io` 1. */
export function protocolVersion(protocol: string): number {
  return Number(/^v(\d+)\./.exec(protocol)?.[1] ?? 1)
}

/** Whether messages are text in base64. */
export const isBase64Protocol = (protocol: string): boolean => protocol.includes('base64.')
