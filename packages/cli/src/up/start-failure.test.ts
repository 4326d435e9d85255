import { describe, expect, it } from 'vitest'
import { explainStartFailure } from './start-failure.ts'

const flags = { dataDir: '.coracle', listen: '127.0.0.1', port: 6443 }
const failure = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

describe('explainStartFailure', () => {
  it.each([
    [failure('EADDRINUSE'), 'port 6443 of 127.0.0.1 is in use: choose another with --port (0 picks a free one)'],
    [failure('EADDRNOTAVAIL'), '127.0.0.1 is no address of this machine: choose one with --listen'],
    [
      failure('EACCES', { syscall: 'listen' }),
      'port 6443 needs rights that this user lacks: choose another with --port',
    ],
    [
      failure('EACCES', { syscall: 'mkdir' }),
      'cannot write to .coracle (permission denied): choose another directory with --data-dir',
    ],
    [
      Object.assign(new Error('in use'), { name: 'DirectoryInUseError', owner: 'process 42' }),
      '.coracle is in use by process 42: stop that, or choose another directory with --data-dir',
    ],
    [Object.assign(new Error('the store is missing'), { name: 'StoreMissingError' }), 'the store is missing'],
    [Object.assign(new Error('cannot be locked'), { name: 'DirectoryLockError' }), 'cannot be locked'],
    [
      Object.assign(new Error('the store is damaged'), { name: 'StoreDamagedError' }),
      'the store is damaged; `coracle doctor --data-dir .coracle` says more, and with --repair goes on without what is damaged',
    ],
  ])('says what to do about %s', (error, message) => {
    expect(explainStartFailure(error, flags)).toMatchObject({ name: 'CliError', message })
  })

  it('leaves any other error as it is', () => {
    const error = new Error('surprise')
    expect(explainStartFailure(error, flags)).toBe(error)
  })
})
