import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { flowChecks } from './flow-checks.ts'
import { type PriorityLevelConfiguration, priorityLevelConfigurationSchema } from './priority-level-schema.ts'

const none = '<none>'

const queuingOf = ({ spec }: PriorityLevelConfiguration) => spec?.limited?.limitResponse?.queuing

const shares = ({ spec }: PriorityLevelConfiguration) => spec?.limited?.nominalConcurrencyShares ?? none

/** What queues are like where nothing, or 0, is said of them (SetDefaults_QueuingConfiguration). */
const queuingDefaults = { queues: 64, handSize: 8, queueLengthLimit: 50 }

/** A level whose queues have sizes. */
export function withQueues(level: PriorityLevelConfiguration): PriorityLevelConfiguration {
  const { spec } = level
  const queuing = queuingOf(level)
  if (queuing === undefined || spec?.limited?.limitResponse === undefined) return level
  const { queues, handSize, queueLengthLimit } = queuing
  const filled = {
    queues: queues || queuingDefaults.queues,
    handSize: handSize || queuingDefaults.handSize,
    queueLengthLimit: queueLengthLimit || queuingDefaults.queueLengthLimit,
  }
  const limitResponse = { ...spec.limited.limitResponse, queuing: filled }
  return { ...level, spec: { ...spec, limited: { ...spec.limited, limitResponse } } }
}

/** `flowcontrol.apiserver.k8s.io/v1` prioritylevelconfigurations. */
export const priorityLevelConfigurations = kind<PriorityLevelConfiguration>(priorityLevelConfigurationSchema, {
  plural: 'prioritylevelconfigurations',
  namespaced: false,
  countsGenerations: true,
  rules: { statusKeeps: 'metadata' },
  columns: [
    nameColumn,
    column('Type', ({ spec }) => spec?.type ?? '', {
      type: 'string',
      description: 'Whether requests are limited.',
    }),
    column('NominalConcurrencyShares', shares, { type: 'string', description: 'Its share of the seats.' }),
    column('Queues', (level) => queuingOf(level)?.queues ?? none, { type: 'string', description: 'How many queues.' }),
    column('HandSize', (level) => queuingOf(level)?.handSize ?? none, {
      type: 'string',
      description: 'How many of the queues a flow may use.',
    }),
    column('QueueLengthLimit', (level) => queuingOf(level)?.queueLengthLimit ?? none, {
      type: 'string',
      description: 'How many requests wait in a queue.',
    }),
    ageColumn,
  ],
  defaults: withQueues,
  load: flowChecks.load,
  validate: (level) => flowChecks.get().validatePriorityLevel(level),
  validateStatusUpdate: (level) => flowChecks.get().validatePriorityLevelStatus(level),
})
