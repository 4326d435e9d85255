import { ApiError, internalError, requestTooLarge, timeout, tooManyRequests } from '@coracle/api'
import {
  StoreDamagedError,
  StoreOverloadedError,
  StoreTimeoutError,
  StoreUnavailableError,
  TransactionTooLargeError,
} from '@coracle/store'

/** Upstream's words for 429. */
export const busyMessage = 'too many requests, please try again later'

/**
 * What a client is told of an error of the store that it can do something about, or should know of; any other error as it
 * is. The log of the server names the directory that is damaged.
 */
export function fromStore(error: unknown): unknown {
  if (error instanceof StoreOverloadedError) return tooManyRequests(busyMessage, 1)
  // Clients send a request again where they are told when, and this may have been carried out: with `generateName` there would be two.
  if (error instanceof StoreTimeoutError) return timeout(error.message)
  if (error instanceof TransactionTooLargeError) return requestTooLarge(error.message)
  if (error instanceof StoreDamagedError) return internalError(`the store is damaged: ${error.what}`)
  if (!(error instanceof StoreUnavailableError)) return error
  return new ApiError(503, 'ServiceUnavailable', error.message, { retryAfterSeconds: 1 })
}
