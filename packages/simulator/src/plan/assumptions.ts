import { type Container, type Pod, parseTime } from '@coracle/api'
import { probeDelayMs, probesOfReadiness, type SimulatedBehaviour, type SimulatedConduct } from '@coracle/cluster'
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
 * container that waits for its image or crashes, or whose readiness probe has failed for long, and new ones of its image, where no
 * other of that image is ready. New containers are as assumed, and those that were being started need only the rest of the time;
 * readiness probes have them wait as long as they say.
 */
export function behaviourOf({ assumptions, random, podOf, initial, nowMs }: BehaviourParts): SimulatedBehaviour {
  const broken = brokenImages(initial)
  const starting = new Map(initial.map((pod) => [pod.metadata.uid ?? '', startsUnderWay(pod)]))
  const verdicts = new Map<string, 'works' | 'crashes' | 'is never ready'>()
  const fateOf = (podUid: string) => {
    const known = verdicts.get(podUid)
    if (known !== undefined) return known
    const draw = assumptions.failRate === 0 ? 1 : random.next()
    const fate = draw >= assumptions.failRate ? 'works' : draw < assumptions.failRate / 2 ? 'crashes' : 'is never ready'
    verdicts.set(podUid, fate)
    return fate
  }
  return ({ podUid, podNamespace, podName, name, image, attempt, isTask, adopted }): SimulatedConduct => {
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
    const fate = broken.has(image) ? 'is never ready' : fateOf(podUid)
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

/** A container that is not ready and was restarted more often than this does not work. */
const restartsOfWorkingMax = 2

/** Images of containers that do not work, and of none that does. */
function brokenImages(pods: readonly Pod[]): ReadonlySet<string> {
  const [broken, working] = [new Set<string>(), new Set<string>()]
  for (const { status, spec } of pods) {
    for (const { name, state, ready, restartCount = 0 } of status?.containerStatuses ?? []) {
      const image = spec.containers.find((each) => each.name === name)?.image ?? ''
      const waits = state?.waiting?.reason ?? ''
      if (ready) working.add(image)
      else if (/BackOff$|^ErrImage|^InvalidImage|Error$/.test(waits) || restartCount > restartsOfWorkingMax)
        broken.add(image)
    }
  }
  return new Set([...broken].filter((image) => !working.has(image)))
}
