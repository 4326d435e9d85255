/** Codes of gRPC that mean something to callers. https://grpc.io/docs/guides/status-codes */
export const rpcCodes = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  aborted: 10,
  unimplemented: 12,
  unavailable: 14,
} as const

/** Go's names of all codes, by number. */
const codeNames = [
  ...['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ...['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented'],
  ...['Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
]

/** A call that was answered with an error, in the words of Go's gRPC, as upstream shows it. */
export class RpcError extends Error {
  override readonly name: string = 'RpcError'
  readonly code: number
  /** What the server said. */
  readonly details: string

  constructor(code: number, details: string) {
    super(`rpc error: code = ${codeNames[code] ?? `Code(${code})`} desc = ${details}`)
    this.code = code
    this.details = details
  }
}
