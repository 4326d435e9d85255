import { describe, expect, it } from 'vitest'
import { explainStartFailure } from './start-failure.ts'

const place = { name: 'coracle', directory: '/w/.coracle', shown: '.coracle', home: '/w/.coracle' }
const flags = { place, listen: '127.0.0.1', port: 6443 }
const nobody = { portHolder: () => undefined }
const holder = { pid: 42, parent: 1, session: '1', started: '7', command: 'nginx\0-g\0daemon off;\0' }
const failure = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

describe('explainStartFailure', () => {
  it.each([
    [
      failure('EADDRINUSE'),
      'port 6443 of 127.0.0.1 is in use: stop that, or choose another with --port (0 picks a free one)',
    ],
    [failure('EADDRNOTAVAIL'), '127.0.0.1 is no address of this machine: choose one with --listen'],
    [
      failure('EACCES', { syscall: 'listen' }),
      'port 6443 needs rights that this user lacks: choose another with --port',
    ],
    [
      failure('EACCES', { syscall: 'mkdir' }),
      'cannot write to .coracle (permission denied): choose another directory with --data-dir or --name',
    ],
    [
      Object.assign(new Error('in use'), { name: 'DirectoryInUseError', owner: 'process 42' }),
      '.coracle is in use by process 42: stop that with `coracle down`, or choose another directory with --data-dir or --name',
    ],
    [Object.assign(new Error('the store is missing'), { name: 'StoreMissingError' }), 'the store is missing'],
    [Object.assign(new Error('a store of format 99'), { name: 'UnknownFormatError' }), 'a store of format 99'],
    [Object.assign(new Error('cannot be locked'), { name: 'DirectoryLockError' }), 'cannot be locked'],
    [
      Object.assign(new Error('the store is damaged'), { name: 'StoreDamagedError' }),
      'the store is damaged; `coracle doctor` says more, and with --repair goes on without what is damaged',
    ],
  ])('says what to do about %s', (error, message) => {
    expect(explainStartFailure(error, flags, nobody)).toMatchObject({ name: 'CliError', message })
  })

  it.each([
    ['127.0.0.1:8080', 'give its port apart, --listen 127.0.0.1 --port 8080'],
    ['[::1]:8080', 'give its port apart, --listen ::1 --port 8080'],
    ['::2', 'choose one with --listen'],
  ])('an address with a port, such as %s', (listen, advice) => {
    const explained = explainStartFailure(failure('ENOTFOUND'), { ...flags, listen }, nobody)
    expect(explained).toMatchObject({ message: `${listen} is no address of this machine: ${advice}` })
  })

  it('names the process that has the port', () => {
    const { message } = explainStartFailure(failure('EADDRINUSE'), flags, { portHolder: () => holder }) as Error
    expect(message).toBe(
      'port 6443 of 127.0.0.1 is in use by process 42 (nginx -g daemon off;): ' +
        'stop that, or choose another with --port (0 picks a free one)',
    )
  })

  it('names what one has to add to commands that are to mean this cluster', () => {
    const inUse = Object.assign(new Error('in use'), { name: 'DirectoryInUseError', owner: 'process 42' })
    const staging = { ...place, name: 'staging' }
    const { message } = explainStartFailure(inUse, { ...flags, place: staging }, nobody) as Error
    expect(message).toContain('stop that with `coracle down --name staging`')
    const alone = { ...place, home: undefined, shown: '/data' }
    expect((explainStartFailure(inUse, { ...flags, place: alone }, nobody) as Error).message).toBe(
      '/data is in use by process 42: stop that with `coracle down --data-dir /data`, or choose another directory with --data-dir',
    )
  })

  it('leaves any other error as it is', () => {
    const error = new Error('surprise')
    expect(explainStartFailure(error, flags, nobody)).toBe(error)
  })
})
