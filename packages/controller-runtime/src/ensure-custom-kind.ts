import { type CustomResourceDefinition, customResourceDefinitions, hasReason } from '@coracle/api'
import { type Client, createInformer } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { getCondition, isConditionTrue } from './conditions.ts'
import { createOrPatch, type Wanted } from './create-or-update.ts'
import type { CustomKind } from './custom-kind.ts'

/** How long a server has to serve a new kind. */
export const establishedTimeoutDefaultMs = 30_000

export interface EnsureOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Makes the server serve a kind, and resolves once it does. The same definition again changes nothing; another one replaces what was
 * there. Rejects with the server's reason where it does not accept the definition or its names, and after `timeoutMs`.
 *
 * The definition is written by create and patch, not by server-side apply: older servers, which do not know all that it says (rules in
 * CEL came with 1.25), leave out what they do not know, but would refuse to apply it.
 */
export async function ensureCustomKind(
  client: Client,
  { definition }: Pick<CustomKind, 'definition'>,
  environment: Environment,
  { timeoutMs = establishedTimeoutDefaultMs, signal }: EnsureOptions = {},
): Promise<void> {
  signal?.throwIfAborted()
  const ensured = await ensureDefinition(client, definition)
  if (isConditionTrue(ensured.status?.conditions, 'Established')) return
  await established(client, definition.metadata.name ?? '', environment, timeoutMs, signal)
}

async function ensureDefinition(
  client: Client,
  definition: CustomResourceDefinition,
): Promise<CustomResourceDefinition> {
  const wanted: Wanted<CustomResourceDefinition> = {
    initial: definition,
    change: ({ metadata, ...present }) => ({
      ...present,
      metadata: {
        ...metadata,
        ...(definition.metadata.labels && { labels: { ...metadata.labels, ...definition.metadata.labels } }),
        ...(definition.metadata.annotations && {
          annotations: { ...metadata.annotations, ...definition.metadata.annotations },
        }),
      },
      spec: definition.spec,
    }),
  }
  const ensure = async () => (await createOrPatch(client, customResourceDefinitions, wanted)).object
  try {
    return await ensure()
  } catch (error) {
    // Several that start at once all find nothing, and one creates it.
    if (hasReason(error, 'AlreadyExists')) return ensure()
    throw error
  }
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
  if (signal?.aborted === true) giveUp()
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
