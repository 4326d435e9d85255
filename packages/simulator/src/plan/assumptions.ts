import { type Container, type ContainerStatus, isSidecar, type Pod, parseTime } from '@coracle/api'
import { probesOfReadiness } from '@coracle/cluster'
import { probeDelayMs, type SimulatedBehaviour, type SimulatedConduct } from '@coracle/cluster/simulated'
import type { Random } from '@coracle/environment'

/** What nobody can know of containers before they run. */
export interface Assumptions {
  /** How long a container takes from being started to running, in milliseconds. */
  readonly startDelayMs: number
  /** How long a container runs that is to end: those of Jobs, and init containers. Absent: it does not end. */
  readonly runMs?: number
  /** The share of new pods, from 0 to 1, of which a container never gets ready, or ends with an error again and again. */
  readonly failRate: number
}

/** As simulated nodes are anyway: containers run and are ready at once. */
export const promptly: Assumptions = { startDelayMs: 0, failRate: 0 }

/** When a start ends that seems to have taken its time: it is known not to have ended yet, and times are told to the second only. */
const soonMs = 1
/** A container that crashes does so after this. */
const crashAfterMs = 2_000
/** A container that has not been ready for so long, beside what its probes wait, is taken never to be. */
const stuckAfterMs = 60_000

type Fate = 'works' | 'crashes' | 'is never ready'

export interface BehaviourParts {
  readonly assumptions: Assumptions
  /** Draws which pods fail. */
  readonly random: Random
  /** Pods as they are now. */
  readonly podOf: (namespace: string, name: string) => Pod | undefined
  /** Pods as they were in the source. */
  readonly initial: readonly Pod[]
  readonly nowMs: () => number
}

/**
 * How containers of a copy behave. What works in the source goes on working, and what does not work there does not work here: a
 * container whose readiness probe has failed for long; new ones of an image that cannot be had; and new ones like those that crash:
 * of the same image, command and arguments, where no such container is ready. That a task fails says nothing of what is there to run
 * on, nor the other way round. New containers are as assumed, and those that were being started need only the rest of the time;
 * readiness probes have them wait as long as they say.
 */
export function behaviourOf({ assumptions, random, podOf, initial, nowMs }: BehaviourParts): SimulatedBehaviour {
  const failing = failuresIn(initial)
  const starting = new Map(initial.map((pod) => [pod.metadata.uid ?? '', startsUnderWay(pod)]))
  const verdicts = new Map<string, Fate>()
  const fateOf = (podUid: string) => {
    const known = verdicts.get(podUid)
    if (known !== undefined) return known
    const draw = assumptions.failRate === 0 ? 1 : random.next()
    const fate = draw >= assumptions.failRate ? 'works' : draw < assumptions.failRate / 2 ? 'crashes' : 'is never ready'
    verdicts.set(podUid, fate)
    return fate
  }
  return ({ podUid, podNamespace, podName, name, attempt, isTask, adopted }): SimulatedConduct => {
    const pod = podOf(podNamespace, podName)
    const container = pod === undefined ? undefined : containerOf(pod, name)
    if (pod === undefined || container === undefined) return {}
    const readyAfterMs = probeDelayMs(probesOfReadiness(container))
    const { runMs } = assumptions
    const run = runMs !== undefined && isTask ? { run: { forMs: runMs, exitCodes: [0] } } : {}
    if (adopted !== undefined) {
      const isStuck = !adopted.ready && nowMs() - adopted.startedAtMs > readyAfterMs + stuckAfterMs
      return { readyAfterMs: isStuck ? Number.POSITIVE_INFINITY : readyAfterMs, ...run }
    }
    const fate = failing.fateOf(container, isTask) ?? fateOf(podUid)
    const begunMs = attempt === 0 ? starting.get(podUid)?.get(name) : undefined
    const { startDelayMs } = assumptions
    const startLatencyMs = begunMs === undefined ? startDelayMs : Math.max(soonMs, startDelayMs - (nowMs() - begunMs))
    if (fate === 'crashes') return { startLatencyMs, run: { forMs: crashAfterMs, exitCodes: [1] } }
    if (fate === 'is never ready') return { startLatencyMs, readyAfterMs: Number.POSITIVE_INFINITY }
    return { startLatencyMs, readyAfterMs, ...run }
  }
}

/**
 * Since when each container of a pod is being started for the first time, by name: since its node took the pod on, or since the init
 * containers were done.
 */
function startsUnderWay({ status = {} }: Pod): ReadonlyMap<string, number> {
  const { startTime, conditions = [], containerStatuses = [] } = status
  const initialized = conditions.find(({ type, status: holds }) => type === 'Initialized' && holds === 'True')
  if (startTime === undefined || initialized === undefined) return new Map()
  const sinceMs = Math.max(parseTime(startTime), parseTime(initialized.lastTransitionTime ?? startTime))
  const starting = containerStatuses.filter(({ state }) => state?.waiting?.reason === 'ContainerCreating')
  return new Map(starting.map(({ name }) => [name, sinceMs]))
}

const containerOf = ({ spec }: Pod, wanted: string): Container | undefined =>
  [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === wanted)

/** What of the source does not work. */
interface Failures {
  /** How new containers like one go; undefined where nothing is known of such. */
  fateOf(container: Container, isTask: boolean): Fate | undefined
}

/** Why a container waits whose image cannot be had: no container of that image can run. */
const waitsForImage = /^ErrImage|^InvalidImage|^ImagePull|^ImageInspect/
/** Why a container waits that failed when it ran, or when it was to run. What it lacks of the cluster's, a copy knows by itself. */
const waitsAfterFailing = /^(?:CrashLoopBackOff|RunContainerError|CreateContainerError|PostStartHookError)$/
/** A container that is not ready and was restarted more often than this does not work. */
const restartsOfWorkingMax = 2

/**
 * Images that cannot be had, and what runs and fails. A crash tells of the program, which is an image with a command and arguments, and
 * of what it is there for: a task that ends with an error may have the image of services that run well, and an error of its own.
 */
function failuresIn(pods: readonly Pod[]): Failures {
  const [images, programs] = [new Verdicts(), new Verdicts()]
  for (const { container, status, isTask } of pods.flatMap(containersOf)) {
    images.note(container.image ?? '', imageVerdict(status))
    programs.note(programOf(container, isTask), programVerdict(status))
  }
  return {
    fateOf(container, isTask) {
      if (images.isBroken(container.image ?? '')) return 'is never ready'
      if (!programs.isBroken(programOf(container, isTask))) return undefined
      return isTask ? 'crashes' : 'is never ready'
    },
  }
}

interface SeenContainer {
  readonly container: Container
  readonly status: ContainerStatus
  readonly isTask: boolean
}

/** The containers of a pod of which something is known. */
function containersOf({ spec, status = {} }: Pod): readonly SeenContainer[] {
  const { containers, initContainers = [], restartPolicy = 'Always' } = spec
  const seen = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const statusOf = ({ name }: Container) => seen.find((each) => each.name === name)
  return [
    ...initContainers.map((container) => ({ container, isTask: !isSidecar(container) })),
    ...containers.map((container) => ({ container, isTask: restartPolicy !== 'Always' })),
  ].flatMap(({ container, isTask }) => {
    const known = statusOf(container)
    return known === undefined ? [] : [{ container, status: known, isTask }]
  })
}

type Verdict = 'works' | 'is broken' | 'nobody knows'

/** Something is broken of which one does not work, and none does. */
class Verdicts {
  readonly #working = new Set<string>()
  readonly #broken = new Set<string>()

  note(key: string, verdict: Verdict): void {
    if (verdict === 'works') this.#working.add(key)
    else if (verdict === 'is broken') this.#broken.add(key)
  }

  isBroken(key: string): boolean {
    return this.#broken.has(key) && !this.#working.has(key)
  }
}

function imageVerdict({ ready, state }: ContainerStatus): Verdict {
  if (waitsForImage.test(state?.waiting?.reason ?? '')) return 'is broken'
  return ready ? 'works' : 'nobody knows'
}

function programVerdict({ ready, state, restartCount }: ContainerStatus): Verdict {
  const reason = state?.waiting?.reason ?? ''
  if (ready || state?.terminated?.exitCode === 0) return 'works'
  return waitsAfterFailing.test(reason) || restartCount > restartsOfWorkingMax ? 'is broken' : 'nobody knows'
}

/** What a container runs, and whether it is there to end. */
const programOf = ({ image, command = [], args = [] }: Container, isTask: boolean): string =>
  JSON.stringify([image, command, args, isTask])
