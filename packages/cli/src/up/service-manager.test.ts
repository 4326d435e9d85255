import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { serviceManager } from './service-manager.ts'

describe('a service manager that has started the process', () => {
  let environment: VirtualEnvironment
  let told: string[]
  let answer: () => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  let check: () => Promise<unknown>
  beforeEach(() => {
    environment = virtualEnvironment()
    told = []
    answer = async () => ({ code: 0, stdout: '', stderr: '' })
    check = async () => {}
  })

  function managerOf(variables: Readonly<Record<string, string>>) {
    const host = recordingHost({
      environment,
      variables: { NOTIFY_SOCKET: '/run/systemd/notify', ...variables },
      runProgram: (command, args) => {
        told.push([command, ...args].join(' '))
        return answer()
      },
    })
    return { host, manager: serviceManager(host, { pid: 7, ppid: 6, check: () => check() }) }
  }

  it('is told that the process is ready, which it is, and that it stops', async () => {
    const { manager } = managerOf({})
    await manager.ready('at https://127.0.0.1:6443')
    await manager.stopping()
    expect(told).toEqual([
      'systemd-notify --pid=7 READY=1 STATUS=at https://127.0.0.1:6443',
      'systemd-notify --pid=7 STOPPING=1',
    ])
  })

  it('hears twice in the time it has set that the process is well, until that stops', async () => {
    const { manager } = managerOf({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' })
    await manager.ready('')
    told.length = 0
    await environment.clock.advance(14_999)
    expect(told).toEqual([])
    await environment.clock.advance(30_001)
    expect(told).toEqual(Array(3).fill('systemd-notify --pid=7 WATCHDOG=1'))
    await manager.stopping()
    await environment.clock.advance(60_000)
    expect(told.at(-1)).toBe('systemd-notify --pid=7 STOPPING=1')
  })

  it('hears of a child of the process that it watches, as under npm', async () => {
    const { manager } = managerOf({ WATCHDOG_USEC: '2000000', WATCHDOG_PID: '6' })
    await manager.ready('')
    await environment.clock.advance(1000)
    expect(told.at(-1)).toBe('systemd-notify --pid=7 WATCHDOG=1')
  })

  it.each([
    ['it watches another process', { WATCHDOG_USEC: '2000000', WATCHDOG_PID: '5' }],
    ['it does not watch', {}],
    ['it says something that is no time', { WATCHDOG_USEC: 'soon' }],
  ])('hears no more where %s', async (_why, variables) => {
    const { manager } = managerOf(variables)
    await manager.ready('')
    await environment.clock.advance(3_600_000)
    expect(told).toHaveLength(1)
  })

  it('hears nothing of a process that is not well, and again when it is', async () => {
    const { host, manager } = managerOf({ WATCHDOG_USEC: '2000000' })
    await manager.ready('')
    check = async () => {
      throw new Error('no answer')
    }
    await environment.clock.advance(1000)
    expect(told).toHaveLength(1)
    expect(host.written.stderr).toBe(
      'warning: not well, and the service manager is not told otherwise: Error: no answer\n',
    )
    check = async () => {}
    await environment.clock.advance(1000)
    expect(told).toHaveLength(2)
  })

  it('hears nothing while a check does not end', async () => {
    const { manager } = managerOf({ WATCHDOG_USEC: '2000000' })
    await manager.ready('')
    check = () => new Promise(() => {})
    await environment.clock.advance(60_000)
    expect(told).toHaveLength(1)
  })

  it('hears no more of a process that stops, also where it has yet to hear that it is ready', async () => {
    const { manager } = managerOf({ WATCHDOG_USEC: '2000000' })
    const ready = manager.ready('')
    await manager.stopping()
    await ready
    await environment.clock.advance(60_000)
    expect(told.map((each) => each.split(' ')[2])).toEqual(['READY=1', 'STOPPING=1'])
  })

  it('is told by one program at a time that the process is well', async () => {
    const { manager } = managerOf({ WATCHDOG_USEC: '2000000' })
    await manager.ready('')
    answer = () => new Promise(() => {})
    await environment.clock.advance(60_000)
    expect(told).toHaveLength(2)
  })

  it.each([
    [
      'is not there',
      async () => Promise.reject(new Error('cannot run systemd-notify: ENOENT')),
      'cannot run systemd-notify: ENOENT',
    ],
    ['fails', async () => ({ code: 1, stdout: '', stderr: 'No such file\n' }), 'No such file'],
    ['fails without a word', async () => ({ code: 3, stdout: '', stderr: '' }), 'systemd-notify ended with 3'],
  ])('is said once not to be told where the program for it %s', async (_how, ends, why) => {
    const { host, manager } = managerOf({})
    answer = ends
    await manager.ready('')
    await manager.stopping()
    expect(host.written.stderr).toBe(`warning: the service manager is not told how this process is: ${why}\n`)
  })
})
