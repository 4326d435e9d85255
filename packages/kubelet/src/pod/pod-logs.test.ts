import type { ContainerStateTerminated, ContainerStatus } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { LogOptions, LogReadOptions } from '../log-options.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { testPod } from '../testing/pods.ts'
import { podLogs } from './pod-logs.ts'

/** A runtime whose logs say of which container they are. */
const runtime = {
  name: 'process',
  async *readLog(id: string) {
    yield Buffer.from(`log of ${id}`)
  },
} as unknown as Runtime

async function logOf(status: Partial<ContainerStatus>, options: Partial<LogOptions>): Promise<string> {
  const statuses = [{ name: 'web', ready: false, restartCount: 0, image: '', imageID: '', ...status }]
  const asked = { container: '', follow: false, previous: false, timestamps: false, ...options }
  let text = ''
  for await (const piece of podLogs(runtime, testPod(), statuses, asked, 0, new AbortController().signal))
    text += Buffer.from(piece).toString()
  return text
}

const ended = (id: string, more: Partial<ContainerStateTerminated> = {}) => ({
  terminated: { exitCode: 1, reason: 'Error', containerID: `process://${id}`, ...more },
})
const unstarted = ended('unstarted', { exitCode: 128, reason: 'StartError', message: 'exec: "x": not found' })
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } }
const waiting = (reason: string, message?: string) => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
})

describe('the log of a container', () => {
  it.each<[string, Partial<ContainerStatus>, string]>([
    [
      'is that of the run that is on',
      { state: running, containerID: 'process://now', lastState: ended('before') },
      'now',
    ],
    ['is that of the run that has ended', { state: ended('now'), lastState: ended('before') }, 'now'],
    [
      'is that of the last run while the next has to wait',
      { state: waiting('CrashLoopBackOff'), lastState: ended('before') },
      'before',
    ],
    [
      'is that of the run before where the last left none',
      { state: ended('', { containerID: undefined }), lastState: ended('before') },
      'before',
    ],
  ])('%s', async (_, status, id) => {
    expect(await logOf(status, {})).toBe(`log of ${id}`)
  })

  it.each<[Partial<LogOptions>, object]>([
    [{}, {}],
    [{ sinceSeconds: 30 }, { sinceTimeMs: 70_000 }],
    [{ sinceTimeMs: 5_000 }, { sinceTimeMs: 5_000 }],
    [{ sinceSeconds: 30, sinceTimeMs: 5_000 }, { sinceTimeMs: 70_000 }],
    [
      { tailLines: 0, limitBytes: 10, timestamps: true },
      { tailLines: 0, limitBytes: 10, timestamps: true },
    ],
  ])('is read as is asked for: %j', async (options, expected) => {
    const asked: LogReadOptions[] = []
    const recording = {
      ...runtime,
      readLog: (_id: string, how: LogReadOptions) => {
        asked.push(how)
        return []
      },
    } as unknown as Runtime
    const status = { name: 'web', ready: true, restartCount: 0, image: '', imageID: '', state: running }
    const statuses = [{ ...status, containerID: 'process://now' }]
    const logOptions = { container: '', follow: false, previous: false, timestamps: false, ...options }
    const never = new AbortController().signal
    for await (const _ of podLogs(recording, testPod(), statuses, logOptions, 100_000, never)) expect.unreachable()
    expect(asked).toEqual([{ follow: false, timestamps: false, ...expected }])
  })

  it('is that of the run before where the previous one is asked for', async () => {
    const status = { state: running, containerID: 'process://now', lastState: ended('before') }
    expect(await logOf(status, { previous: true })).toBe('log of before')
  })

  const about = 'container "web" in pod "web"'

  it.each<[string, Partial<ContainerStatus>, Partial<LogOptions>, string]>([
    [
      'a start that is yet to come',
      { state: waiting('ContainerCreating') },
      {},
      `${about} is waiting to start: ContainerCreating`,
    ],
    [
      'a configuration that cannot be',
      { state: waiting('CreateContainerConfigError', 'secret "s" not found') },
      {},
      `${about} is waiting to start: CreateContainerConfigError: secret "s" not found`,
    ],
    [
      'a command that cannot be run',
      { state: unstarted },
      {},
      `${about} could not start: StartError: exec: "x": not found`,
    ],
    [
      'a command that could not be run, and is tried again',
      { state: waiting('CrashLoopBackOff'), lastState: unstarted },
      {},
      `${about} could not start: StartError: exec: "x": not found`,
    ],
    [
      'a previous command that could not be run',
      { state: running, containerID: 'process://now', lastState: unstarted },
      { previous: true },
      `${about} could not start: StartError: exec: "x": not found`,
    ],
    [
      'no previous run',
      { state: running, containerID: 'process://now' },
      { previous: true },
      `previous terminated ${about} not found`,
    ],
    [
      'an end of which nothing is known',
      { state: ended('', { containerID: undefined }) },
      {},
      `${about} is terminated`,
    ],
    ['nothing known at all', {}, {}, `${about} is waiting to start - no logs yet`],
  ])('is refused for %s, which is said', async (_, status, options, message) => {
    await expect(logOf(status, options)).rejects.toThrow(message)
  })
})
