import { type CustomResourceDefinition, customResourceDefinitions } from '@coracle/api'
import { type Client, createInformer } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { getCondition, isConditionTrue } from './conditions.ts'
import type { CustomKind } from './custom-kind.ts'

/** How long a server has to serve a new kind. */
export const establishedTimeoutDefaultMs = 30_000

export interface EnsureOptions {
  /** Who owns the definition's fields (server-side apply). `controller-runtime` by default. */
  readonly fieldManager?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Makes the server serve a kind, and resolves once it does. Applying the same definition again changes nothing; another one
 * replaces what was there. Rejects with the server's reason where it does not accept the definition or its names, and after
 * `timeoutMs`.
 */
export async function ensureCustomKind(
  client: Client,
  { definition }: Pick<CustomKind, 'definition'>,
  environment: Environment,
  options: EnsureOptions = {},
): Promise<void> {
  const { fieldManager = 'controller-runtime', timeoutMs = establishedTimeoutDefaultMs, signal } = options
  const applied = await client.apply(customResourceDefinitions, definition, {
    fieldManager,
    force: true,
    ...(signal === undefined ? {} : { signal }),
  })
  if (isConditionTrue(applied.status?.conditions, 'Established')) return
  await established(client, definition.metadata.name ?? '', environment, timeoutMs, signal)
}

async function established(
  client: Client,
  name: string,
  environment: Environment,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const informer = createInformer(
    client,
    customResourceDefinitions,
    { fieldSelector: `metadata.name=${name}` },
    environment,
  )
  const outcome = Promise.withResolvers<void>()
  const look = (definition: CustomResourceDefinition) => {
    const { conditions } = definition.status ?? {}
    if (isConditionTrue(conditions, 'Established')) outcome.resolve()
    const names = getCondition(conditions, 'NamesAccepted')
    if (names?.status === 'False') outcome.reject(new Error(`${name} is not served: ${names.message}`))
  }
  const timer = environment.clock.setTimer(timeoutMs, () =>
    outcome.reject(new Error(`${name} is not served after ${timeoutMs} ms`)),
  )
  const giveUp = () => outcome.reject(signal?.reason)
  signal?.addEventListener('abort', giveUp, { once: true })
  informer.addHandler({ add: look, update: (_, definition) => look(definition) })
  informer.start()
  try {
    await outcome.promise
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', giveUp)
    await informer.stop()
  }
}
