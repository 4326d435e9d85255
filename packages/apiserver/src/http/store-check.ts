import { type Clock, type HealthCheck, sleep } from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'

/** How long a store may take to answer before it counts as gone: upstream's --etcd-healthcheck-timeout. */
export const storeAnswerMaxMs = 2000

/**
 * Whether a store that others write to answers: this server can do nothing without it. All who ask while a question is under
 * way share its answer. Called `etcd` as upstream calls it.
 */
export function storeCheck(core: Pick<ApiCore, 'askStore'>, clock: Clock): HealthCheck {
  let asking: Promise<string | undefined> | undefined
  const ask = async (): Promise<string | undefined> => {
    const answered = new AbortController()
    const late = sleep(clock, storeAnswerMaxMs, answered.signal).then(
      () => `the store has not answered within ${storeAnswerMaxMs} ms`,
      () => undefined,
    )
    try {
      return await Promise.race([core.askStore().then(() => undefined), late])
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      answered.abort()
    }
  }
  return {
    name: 'etcd',
    check() {
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return asking
    },
  }
}
