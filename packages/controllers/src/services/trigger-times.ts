import type { Pod, Service } from '@coracle/api'
import { readyCondition } from '../pods/pod-state.ts'

/** When what is behind a service changed, for whoever measures how long it takes until traffic follows. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Annotations with the time of the change that is being written, and without that of an earlier one. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  triggerTime: string | undefined,
): Readonly<Record<string, string>> {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {}
  return triggerTime === undefined ? others : { ...others, [triggerTimeAnnotation]: triggerTime }
}

interface SeenTimes {
  readonly service: string
  /** When each pod became ready or not, by name. */
  readonly pods: ReadonlyMap<string, string>
}

/**
 * Tells when what is behind services changed: of all that has happened to a service since it was last asked about, the earliest.
 * Times are as the API writes them, which sorts as text. (Upstream: endpointslice/util/trigger_time_tracker.go.)
 */
export class TriggerTimes {
  readonly #seen = new Map<string, SeenTimes>()

  /** Undefined where nothing is known to have happened. */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const before = this.#seen.get(key)
    const created = service.metadata.creationTimestamp ?? ''
    const times = new Map<string, string>()
    let earliest: string | undefined
    const happened = (time: string): void => {
      if (earliest === undefined || time < earliest) earliest = time
    }
    for (const pod of pods) {
      const time = readyCondition(pod)?.lastTransitionTime ?? ''
      if (time === '') continue
      const name = pod.metadata.name ?? ''
      times.set(name, time)
      if (time > (before?.pods.get(name) ?? '')) happened(time)
    }
    if (created > (before?.service ?? '')) happened(created)
    this.#seen.set(key, { service: created, pods: times })
    if (before === undefined) return created === '' ? undefined : created
    return earliest
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }
}
