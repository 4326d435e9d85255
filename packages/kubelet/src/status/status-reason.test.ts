import type { ContainerStatus, PodStatus } from '@coracle/api'
import { expect, it } from 'vitest'
import type { OwnPodStatus } from './pod-status.ts'
import { statusReason } from './status-reason.ts'

const main = (parts: object): ContainerStatus =>
  ({ name: 'main', ready: false, restartCount: 0, image: 'i', imageID: '', ...parts }) as ContainerStatus
const status = (parts: object): OwnPodStatus => ({ phase: 'Running', ...parts }) as OwnPodStatus
const of = (...containerStatuses: readonly ContainerStatus[]) => status({ containerStatuses })

const waiting = main({ state: { waiting: { reason: 'ContainerCreating' } } })
const running = main({ state: { running: { startedAt: '2026-01-01T00:00:00Z' } } })
const terminated = { exitCode: 1, reason: 'Error', finishedAt: '2026-01-01T00:01:00Z' }
const backingOff = main({ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } })

it.each<[string, PodStatus | undefined, OwnPodStatus, string]>([
  ['a container that waits', undefined, of(waiting), 'container main waits (ContainerCreating)'],
  ['a container that started', of(waiting), of(running), 'container main started'],
  [
    'one that started and is ready at once',
    of(waiting),
    of({ ...running, ready: true }),
    'container main started, container main is ready',
  ],
  ['a probe that failed', of({ ...running, ready: true }), of(running), 'container main is not ready'],
  [
    'a startup probe that passed',
    of({ ...running, started: false }),
    of({ ...running, started: true }),
    'container main has passed its startup probe',
  ],
  [
    'the end of a container',
    of(running),
    of(main({ state: { terminated } })),
    'container main ended with exit code 1 (Error)',
  ],
  [
    'an end and the wait after it',
    of(running),
    of(backingOff),
    'container main ended with exit code 1 (Error), container main waits (CrashLoopBackOff)',
  ],
  ['an end once', of(backingOff), of({ ...running, lastState: { terminated } }), 'container main started'],
  [
    'init containers as such',
    status({}),
    status({
      initContainerStatuses: [main({ state: { terminated: { ...terminated, exitCode: 0, reason: 'Completed' } } })],
    }),
    'init container main ended with exit code 0 (Completed)',
  ],
  [
    'why the node ended the pod',
    of(running),
    status({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: memory.',
      containerStatuses: [running],
    }),
    'Evicted: The node was low on resource: memory.',
  ],
  ['a phase', status({ phase: 'Pending' }), status({ phase: 'Running' }), 'phase is Running'],
  ['other members', status({ podIP: '10.0.0.1' }), status({ podIP: '10.0.0.2' }), 'podIP 10.0.0.1 → 10.0.0.2'],
])('tells %s', (_what, before, after, told) => {
  expect(statusReason(before, after)).toBe(told)
})
