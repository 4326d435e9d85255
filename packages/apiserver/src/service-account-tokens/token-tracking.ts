import { beginOfDay, type ConfigMap, configMaps, dayOf, hasReason, tokenTracking } from '@coracle/api'
import type { Environment, Time, Timer } from '@coracle/environment'
import { storedObject } from '../admission/stored-objects.ts'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'

/** How soon the ConfigMap is made again that somebody has deleted, at the earliest, since it was made (upstream's rate). */
export const trackingRestoredAfterMs = 30 * 60_000

/** How soon it is tried again where it could not be written. */
export const trackingRetryMs = 60_000

const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/**
 * Keeps the ConfigMap that says since when uses of tokens that Secrets keep are noted, until the returned function is called: others
 * may only take one for unused that is not noted for longer than that.
 */
export function keepTokenTracking(registries: Registries, environment: Environment): () => void {
  const { clock, logger } = environment
  const registry = registries.of(configMaps)
  if (registry === undefined) return () => {}
  const { namespace, name, key } = tokenTracking
  const context = apiServerContext('uses of tokens that secrets keep are noted from now on')
  let createdAt: Time = Number.NEGATIVE_INFINITY
  let timer: Timer | undefined
  let stopped = false

  const write = async (present: ConfigMap | undefined): Promise<void> => {
    const data = { ...present?.data, [key]: dayOf(clock.now()) }
    if (present !== undefined) {
      await registry.update(context, namespace, name, '', { ...present, data }, options)
      return
    }
    createdAt = clock.now()
    await registry.create(context, namespace, { metadata: { namespace, name }, data }, options)
  }
  const keep = (): void => {
    if (stopped) return
    timer?.cancel()
    const present = storedObject(registries, configMaps, name, namespace)
    if (present !== undefined && beginOfDay(present.data?.[key] ?? '') !== undefined) return
    const waitMs = createdAt + trackingRestoredAfterMs - clock.now()
    if (present === undefined && waitMs > 0) {
      timer = clock.setTimer(waitMs, keep, { housekeeping: true })
      return
    }
    write(present).catch((error: unknown) => {
      // Another server or somebody else was faster.
      if (hasReason(error, 'AlreadyExists') || hasReason(error, 'Conflict') || hasReason(error, 'NotFound')) return
      createdAt = Number.NEGATIVE_INFINITY
      if (!stopped) timer = clock.setTimer(trackingRetryMs, keep, { housekeeping: true })
      logger.warn('it is not noted since when uses of tokens are noted', { error: String(error) })
    })
  }
  registry.storage.cache.onChange(({ stored: { object } }) => {
    if (object.metadata.name === name && object.metadata.namespace === namespace) keep()
  })
  keep()
  return () => {
    stopped = true
    timer?.cancel()
  }
}
