/** The other end does not keep to the protocol: the session ends. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError'
}
