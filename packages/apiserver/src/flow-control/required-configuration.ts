import {
  deepEqual,
  type FlowSchema,
  flowSchemas,
  formatTime,
  hasReason,
  type PriorityLevelConfiguration,
  priorityLevelConfigurations,
} from '@coracle/api'
import {
  autoUpdateAnnotation,
  exemptName,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '@coracle/api/flow-control'
import type { Environment } from '@coracle/environment'
import { apiServerContext, apiServerOrigin } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import { createMissing } from '../registry/joint-creation.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'

type Configuration = FlowSchema | PriorityLevelConfiguration

/** How often what there has to be is looked at again (upstream's post-start hook). */
export const reviewIntervalMs = 60_000

const because = 'every cluster has it'
const context = apiServerContext(because)
const options = {
  dryRun: false,
  fieldManager: 'api-priority-and-fairness-config-producer-v1',
  fieldValidation: 'Strict',
} as const
const statusOptions = { ...options, fieldManager: 'api-priority-and-fairness-config-consumer-v1' } as const
const origin = { ...apiServerOrigin('create', because), fieldManager: options.fieldManager }

/**
 * Sees to it that the levels and schemas are there that every cluster has: those that must be there are as they must be, those that are
 * suggested as long as their annotation `apf.kubernetes.io/autoupdate-spec` says so. Those it has made and knows no more go.
 */
export async function ensureConfiguration(registries: Registries, environment: Environment): Promise<void> {
  const [levels, schemas] = [registries.of(priorityLevelConfigurations), registries.of(flowSchemas)]
  if (levels === undefined || schemas === undefined) return
  const allLevels = [...suggestedPriorityLevels, ...mandatoryPriorityLevels]
  const allSchemas = [...suggestedFlowSchemas, ...mandatoryFlowSchemas]
  const lastTransitionTime = formatTime(environment.clock.now())
  const missing = [
    ...allLevels.map((object) => ({ registry: levels, object })),
    ...allSchemas.map((object) => {
      const condition = danglingCondition(object.spec?.priorityLevelConfiguration.name ?? '', true)
      return { registry: schemas, object, status: { conditions: [{ ...condition, lastTransitionTime }] } }
    }),
  ]
  await createMissing(missing, origin, environment)
  await Promise.all([
    ...suggestedPriorityLevels.map((each) => restore(levels, each, false)),
    ...mandatoryPriorityLevels.map((each) => restore(levels, each, true)),
    ...suggestedFlowSchemas.map((each) => restore(schemas, each, false)),
    ...mandatoryFlowSchemas.map((each) => restore(schemas, each, true)),
    ...removals(levels, allLevels),
    ...removals(schemas, allSchemas),
  ])
}

/** Deletes what an earlier version made and this one does not know. */
function removals(registry: ResourceRegistry, known: readonly Configuration[]): readonly Promise<unknown>[] {
  const names = new Set(known.map(({ metadata }) => metadata.name))
  return [...registry.storage.cache.values()].flatMap(({ object: { metadata } }) =>
    names.has(metadata.name) || !isKept(metadata.annotations)
      ? []
      : [registry.delete(context, '', metadata.name ?? '', {}).catch(unless('NotFound', 'Conflict'))],
  )
}

/** Gives a stored object the spec it is to have. */
async function restore(registry: ResourceRegistry, wanted: Configuration, isMandatory: boolean): Promise<void> {
  const { name = '' } = wanted.metadata
  const stored = registry.peek('', name)?.object as Configuration | undefined
  if (stored === undefined) return
  if (!isMandatory && !isKept(stored.metadata.annotations)) return
  const annotations = { ...stored.metadata.annotations, ...(isMandatory ? { [autoUpdateAnnotation]: 'true' } : {}) }
  const spec = specOf(stored, wanted)
  if (deepEqual(spec, stored.spec) && deepEqual(annotations, stored.metadata.annotations)) return
  const next = { ...stored, metadata: { ...stored.metadata, annotations }, spec }
  await registry.update(context, '', name, '', next, options).catch(unless('Conflict', 'NotFound'))
}

/** What is set aside for what is exempt may be chosen by whoever runs the cluster. */
function specOf(stored: Configuration, wanted: Configuration): Configuration['spec'] {
  if (wanted.kind !== 'PriorityLevelConfiguration' || wanted.metadata.name !== exemptName) return wanted.spec
  const { exempt } = (stored as PriorityLevelConfiguration).spec ?? {}
  return exempt === undefined ? wanted.spec : ({ ...wanted.spec, exempt } as Configuration['spec'])
}

const isKept = (annotations: Readonly<Record<string, string>> = {}): boolean =>
  annotations[autoUpdateAnnotation] === 'true'

const unless =
  (...reasons: readonly string[]) =>
  (error: unknown): void => {
    if (!reasons.some((reason) => hasReason(error, reason))) throw error
  }

/** Keeps the configuration that every cluster has, and tells of each schema whether its level is there, until the returned function is called. */
export function keepConfiguration(registries: Registries, environment: Environment): () => void {
  const { clock, logger } = environment
  const failed = (error: unknown): void =>
    logger.warn('flow control was not brought up to date', { error: String(error) })
  const caches = [flowSchemas, priorityLevelConfigurations].flatMap(
    ({ storageKey }) => registries.byStorageKey(storageKey)?.storage.cache ?? [],
  )
  let changes = 0
  /** How many changes there were before the last review that came to its end: where there are no more, nothing is amiss. */
  let reviewedChanges = -1
  const review = (): void => {
    const before = changes
    const done = (): void => {
      if (caches.length === 2) reviewedChanges = before
    }
    if (before !== reviewedChanges) void ensureConfiguration(registries, environment).then(done, failed)
    timer = clock.setTimer(reviewIntervalMs, review, { housekeeping: true })
  }
  let timer = clock.setTimer(reviewIntervalMs, review, { housekeeping: true })
  let isStopped = false
  let isDue = false
  const changed = (): void => {
    changes += 1
    if (isDue) return
    isDue = true
    clock.defer(() => {
      isDue = false
      if (!isStopped) void tellDangling(registries, clock.now()).catch(failed)
    })
  }
  for (const cache of caches) cache.onChange(changed)
  changed()
  return () => {
    isStopped = true
    timer.cancel()
  }
}

/** Writes into the status of schemas whether the level that they name is there, where that is not said yet. */
async function tellDangling(registries: Registries, nowMs: number): Promise<void> {
  const [levels, schemas] = [registries.of(priorityLevelConfigurations), registries.of(flowSchemas)]
  if (levels === undefined || schemas === undefined) return
  const untold = [...schemas.storage.cache.values()].flatMap(({ object }) => {
    const schema = object as FlowSchema
    const level = schema.spec?.priorityLevelConfiguration.name ?? ''
    const condition = danglingCondition(level, levels.peek('', level) !== undefined)
    const told = schema.status?.conditions?.find(({ type }) => type === condition.type)
    const isTold =
      told?.status === condition.status && told.reason === condition.reason && told.message === condition.message
    return isTold ? [] : [{ schema, condition, isNews: told?.status !== condition.status, told }]
  })
  await Promise.all(
    untold.map(async ({ schema, condition, isNews, told }) => {
      const lastTransitionTime = isNews ? formatTime(nowMs) : told?.lastTransitionTime
      const others = (schema.status?.conditions ?? []).filter(({ type }) => type !== condition.type)
      const next = { ...schema, status: { conditions: [...others, { ...condition, lastTransitionTime }] } }
      const why = `it names priority level ${schema.spec?.priorityLevelConfiguration.name}`
      await schemas
        .update(apiServerContext(why), '', schema.metadata.name ?? '', 'status', next, statusOptions)
        .catch(unless('Conflict', 'NotFound'))
    }),
  )
}

/** In upstream's words (apf_controller.go, presyncFlowSchemaStatus). */
const danglingCondition = (level: string, isThere: boolean) => ({
  type: 'Dangling',
  status: isThere ? 'False' : 'True',
  reason: isThere ? 'Found' : 'NotFound',
  message: isThere
    ? `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} and it exists`
    : `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} but there is no such object`,
})
