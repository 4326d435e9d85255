import { kindSchema } from '../../meta.ts'
import { mapList, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { column, nameColumn } from '../columns.ts'
import { resourceDefinition } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'

export interface ComponentCondition extends Infer<typeof componentCondition> {}
export const componentCondition = object(`${coreV1}.ComponentCondition`, 'One aspect of how a component is doing.', {
  type: required(string(), 'What it is about: Healthy.', { default: '' }),
  status: required(string(), 'Whether it holds: True, False or Unknown.', { default: '' }),
  message: optional(string(), 'What the component says of itself.'),
  error: optional(string(), 'Why the component could not be asked.'),
})

/** How a part of the cluster is doing. Deprecated upstream since 1.19. */
export interface ComponentStatus extends Infer<typeof componentStatusSchema> {}
export const componentStatusSchema = kindSchema(
  `${coreV1}.ComponentStatus`,
  'How a part of the cluster is doing, as far as the server that is asked can tell. Deprecated: look at /readyz and at Leases.',
  {
    conditions: optional(mapList(componentCondition, ['type'], { patchMergeKey: 'type' }), 'How it is doing, by type.'),
  },
)

const healthOf = ({ conditions = [] }: ComponentStatus): ComponentCondition | undefined =>
  conditions.find(({ type }) => type === 'Healthy')

const states: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' }

/** `v1` componentstatuses. Nothing of them is stored. */
export const componentStatuses = resourceDefinition<ComponentStatus>(componentStatusSchema, {
  plural: 'componentstatuses',
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  deprecated: 'v1 ComponentStatus is deprecated in v1.19+',
  columns: [
    nameColumn,
    column(
      'Status',
      (object: ComponentStatus) => states[healthOf(object)?.status ?? ''] ?? 'Unknown',
      'Whether it is well.',
    ),
    column('Message', (object: ComponentStatus) => healthOf(object)?.message ?? '', 'What it says of itself.'),
    column('Error', (object: ComponentStatus) => healthOf(object)?.error ?? '', 'Why it could not be asked.'),
  ],
})
