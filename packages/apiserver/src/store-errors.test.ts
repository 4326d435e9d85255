import { ApiError } from '@coracle/api'
import {
  StoreClosedError,
  StoreDamagedError,
  StoreOverloadedError,
  StoreTimeoutError,
  StoreUnavailableError,
  TransactionTooLargeError,
} from '@coracle/store'
import { describe, expect, it } from 'vitest'
import { fromStore } from './store-errors.ts'

describe('an error of the store', () => {
  it.each([
    [new StoreOverloadedError(1, 1), 429, 'TooManyRequests', 'too many requests, please try again later'],
    [new StoreTimeoutError('etcd', 'slow'), 504, 'Timeout', 'slow'],
    [new TransactionTooLargeError('too large'), 413, 'RequestEntityTooLarge', 'too large'],
    [new StoreUnavailableError('etcd', 'gone'), 503, 'ServiceUnavailable', 'gone'],
    [new StoreDamagedError('/data', 'a value is not whole'), 500, 'InternalError', 'the store is damaged: a value'],
  ])('that a client should know of is told it: %s', (error, code, reason, message) => {
    const told = fromStore(error)
    expect(told).toBeInstanceOf(ApiError)
    expect((told as ApiError).status).toMatchObject({ code, reason, message: expect.stringContaining(message) })
  })

  it('says when to come back only where nothing can have been done: clients send the same again then', () => {
    const secondsOf = (error: unknown) => (fromStore(error) as ApiError).status.details?.retryAfterSeconds
    expect(secondsOf(new StoreUnavailableError('etcd', 'gone'))).toBe(1)
    expect(secondsOf(new StoreOverloadedError(1, 1))).toBe(1)
    expect(secondsOf(new StoreTimeoutError('etcd', 'slow'))).toBeUndefined()
  })

  it('names no directory of the server to a client', () => {
    expect((fromStore(new StoreDamagedError('/data', 'a value is not whole')) as ApiError).message).not.toContain(
      '/data',
    )
  })

  it('stays what it is otherwise', () => {
    const error = new StoreClosedError()
    expect(fromStore(error)).toBe(error)
  })
})
