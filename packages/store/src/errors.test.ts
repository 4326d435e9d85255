import { describe, expect, it } from 'vitest'
import {
  DirectoryInUseError,
  DirectoryLockError,
  InvalidTransactionError,
  StoreClosedError,
  StoreDamagedError,
  StoreFailedError,
  StoreOverloadedError,
  StoreTimeoutError,
  StoreUnavailableError,
  TransactionTooLargeError,
  UnknownFormatError,
} from './errors.ts'
import { CompactedError } from './store.ts'

describe('the errors of a store say what has happened, and what to do', () => {
  it.each<[Error, string]>([
    [new StoreClosedError(), 'StoreClosedError: the store is closed'],
    [
      new StoreFailedError('/data', new Error('input/output error')),
      'StoreFailedError: the store in /data has failed and takes no further calls: input/output error',
    ],
    [
      new StoreFailedError('/data', 'no error'),
      'StoreFailedError: the store in /data has failed and takes no further calls: no error',
    ],
    [
      new StoreOverloadedError(7, 900),
      'StoreOverloadedError: too much waits for the disk (7 transactions, 900 bytes); try again later',
    ],
    [
      new StoreUnavailableError('etcd:2379', 'gone'),
      'StoreUnavailableError: the store at etcd:2379 is not available: gone',
    ],
    [
      new StoreTimeoutError('etcd:2379', 'gone'),
      'StoreTimeoutError: the store at etcd:2379 has not answered in time: gone',
    ],
    [
      new DirectoryInUseError('/data', undefined),
      'DirectoryInUseError: /data is in use by another process; stop that process or choose another directory',
    ],
    [
      new DirectoryInUseError('/data', { pid: 42 }),
      'DirectoryInUseError: /data is in use by process 42; stop that process or choose another directory',
    ],
    [
      new DirectoryInUseError('/data', { pid: 42, host: 'web-1' }),
      'DirectoryInUseError: /data is in use by process 42 of host web-1; stop that process or choose another directory',
    ],
    [
      new DirectoryLockError('/data', 'coracle.lock', new Error('no locks')),
      'DirectoryLockError: /data cannot be locked (coracle.lock: no locks); ' +
        'choose a directory on a file system that has locks, such as a local disk',
    ],
    [
      new UnknownFormatError('/data', '99', '3'),
      'UnknownFormatError: /data holds a store of format 99, this version reads format 3; ' +
        'use the version that wrote it, or another directory',
    ],
    [
      new StoreDamagedError('/data', 'a part is missing'),
      'StoreDamagedError: the store in /data is damaged: a part is missing; ' +
        'restore the directory as a whole from a backup',
    ],
    [
      new StoreDamagedError('/data', 'a part is missing', 12),
      'StoreDamagedError: the store in /data is damaged: a part is missing; ' +
        'restore the directory as a whole from a backup, or go on from revision 12, the last that is whole',
    ],
    [new CompactedError(1, 2), 'CompactedError: revision 1 has been compacted; the oldest kept is 2'],
    [new InvalidTransactionError('a key is empty'), 'InvalidTransactionError: a key is empty'],
    [new TransactionTooLargeError('too large'), 'TransactionTooLargeError: too large'],
    [
      new StoreFailedError('/data', Object.assign(new Error('read'), { code: 'EIO' })),
      'StoreFailedError: the store in /data has failed and takes no further calls: read',
    ],
  ])('%s', (error, message) => {
    expect(String(error)).toBe(message)
  })

  it('and keep what caused them', () => {
    const cause = new Error('input/output error')
    expect(new StoreFailedError('/data', cause).cause).toBe(cause)
    expect(new DirectoryLockError('/data', 'coracle.lock', cause).cause).toBe(cause)
  })
})
