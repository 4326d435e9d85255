import type { Container, ContainerStatus, Pod } from '@coracle/api'
import { seededRandom } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { type Assumptions, behaviourOf, promptly } from './assumptions.ts'

interface Drawn {
  readonly container?: Partial<Container>
  readonly restartPolicy?: string
  readonly isInit?: boolean
  /** What is known of the container: nothing, of a new one. */
  readonly status?: Partial<ContainerStatus>
}

const image = 'shop/web:2'

/** A pod of one container that counts. */
function pod(name: string, { container, restartPolicy = 'Always', isInit = false, status }: Drawn = {}): Pod {
  const main: Container = { name: 'main', image, ...container }
  const known = status === undefined ? [] : [{ name: 'main', image, ready: false, restartCount: 0, ...status }]
  return {
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: name },
    spec: isInit
      ? { restartPolicy, initContainers: [main], containers: [{ name: 'other', image: 'shop/other' }] }
      : { restartPolicy, containers: [main] },
    status: isInit ? { initContainerStatuses: known } : { containerStatuses: known },
  } as unknown as Pod
}

/** How the container of a new pod goes where there were some before: `works`, `crashes` or `is never ready`. */
function fateOf(found: Pod, initial: readonly Pod[], assumptions: Assumptions = promptly): string {
  const behaviour = behaviourOf({
    assumptions,
    random: seededRandom(1),
    podOf: () => found,
    initial,
    nowMs: () => 0,
  })
  const [container] = [...(found.spec.initContainers ?? []), ...found.spec.containers]
  const { run, readyAfterMs } = behaviour({
    podUid: 'new',
    podNamespace: 'shop',
    podName: 'new',
    name: 'main',
    image: container?.image ?? '',
    attempt: 0,
    isTask: found.spec.initContainers !== undefined || found.spec.restartPolicy !== 'Always',
    command: container?.command ?? [],
    args: container?.args ?? [],
    env: [],
    probes: [],
  })
  if (run !== undefined) return run.exitCodes.includes(0) ? 'ends well' : 'crashes'
  return readyAfterMs === Number.POSITIVE_INFINITY ? 'is never ready' : 'works'
}

const waiting = (reason: string): Partial<ContainerStatus> => ({ state: { waiting: { reason } } })
const crashing = waiting('CrashLoopBackOff')
const ready: Partial<ContainerStatus> = { ready: true, state: { running: {} } }
const service = pod('new')
const task = pod('new', { restartPolicy: 'OnFailure' })

describe('a new container', () => {
  it.each<[string, Pod, readonly Pod[], string]>([
    ['works where nothing is known of its image', service, [], 'works'],
    ['works as others of its image do', service, [pod('a', { status: ready })], 'works'],
    [
      'does not work where its image cannot be had',
      service,
      [pod('a', { status: waiting('ErrImagePull') })],
      'is never ready',
    ],
    [
      'does not work where a task has yet to get the image',
      service,
      [pod('a', { restartPolicy: 'Never', status: waiting('ImagePullBackOff') })],
      'is never ready',
    ],
    ['does not work where one like it crashes', service, [pod('a', { status: crashing })], 'is never ready'],
    [
      'does not work where one like it was restarted often and is not ready',
      service,
      [pod('a', { status: { restartCount: 3, state: { running: {} } } })],
      'is never ready',
    ],
    [
      'works where one like it was restarted a few times',
      service,
      [pod('a', { status: { restartCount: 2, state: { running: {} } } })],
      'works',
    ],
    [
      'works where others like it do, whatever crashes',
      service,
      [pod('a', { status: crashing }), pod('b', { status: ready })],
      'works',
    ],
    [
      'works where what crashes has another command',
      service,
      [pod('a', { container: { command: ['false'] }, status: crashing })],
      'works',
    ],
    [
      'works where what crashes has other arguments',
      service,
      [pod('a', { container: { args: ['--wrong'] }, status: crashing })],
      'works',
    ],
    [
      'works where what crashes lacks a ConfigMap, which the copy lacks too or is given',
      service,
      [pod('a', { status: waiting('CreateContainerConfigError') })],
      'works',
    ],
    [
      'works where what crashes is a task',
      service,
      [pod('a', { restartPolicy: 'OnFailure', status: { ...crashing, restartCount: 5 } })],
      'works',
    ],
    ['of a task works where what crashes is a service', task, [pod('a', { status: crashing })], 'works'],
    [
      'of a task fails where one like it does',
      task,
      [pod('a', { restartPolicy: 'OnFailure', status: crashing })],
      'crashes',
    ],
    [
      'of a task works where one like it has come to its end, however often it was restarted',
      task,
      [pod('a', { restartPolicy: 'OnFailure', status: { restartCount: 5, state: { terminated: { exitCode: 0 } } } })],
      'works',
    ],
    [
      'that prepares a pod fails where one like it does',
      pod('new', { isInit: true }),
      [pod('a', { isInit: true, status: crashing })],
      'crashes',
    ],
  ])('%s', (_, found, initial, expected) => {
    expect(fateOf(found, initial)).toBe(expected)
  })

  it('fails as often as is assumed', () => {
    expect(fateOf(service, [], { ...promptly, failRate: 1 })).not.toBe('works')
  })

  it('of a task ends well after the time that is assumed', () => {
    expect(fateOf(task, [], { ...promptly, runMs: 30_000 })).toBe('ends well')
  })
})
