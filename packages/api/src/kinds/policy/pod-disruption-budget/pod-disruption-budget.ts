import { ageColumn, column, nameColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { type PodDisruptionBudget, podDisruptionBudgetSchema } from './schema.ts'
import { validatePodDisruptionBudget, validatePodDisruptionBudgetStatus } from './validation.ts'

const notSet = 'N/A'

/** `policy/v1` poddisruptionbudgets. */
export const podDisruptionBudgets = kind<PodDisruptionBudget>(podDisruptionBudgetSchema, {
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  columns: [
    nameColumn,
    column('Min Available', ({ spec }) => String(spec?.minAvailable ?? notSet), {
      type: 'string',
      description: 'How many pods must be available.',
    }),
    column('Max Unavailable', ({ spec }) => String(spec?.maxUnavailable ?? notSet), {
      type: 'string',
      description: 'How many pods may be unavailable.',
    }),
    column('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0, {
      type: 'integer',
      description: 'How many pods may be evicted now.',
    }),
    ageColumn,
  ],
  countsGenerations: true,
  // Upstream checks no more of its metadata than it does of every object's.
  nameFormat: 'path-segment',
  finalizers: 'any',
  rules: { updatesUnconditionally: false },
  // Nothing is evicted on the word of a client: the controller counts first.
  prepareForCreate: (budget) => ({
    ...budget,
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  }),
  validate: validatePodDisruptionBudget,
  validateStatusUpdate: validatePodDisruptionBudgetStatus,
})
