import { duplicateField, type FieldError } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
import { kindSchema } from '../../meta.ts'
import { validateLabels } from '../../object-meta-validation.ts'
import { atomicList, mapOf, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { resourceList } from '../core/common.ts'
import { nodeLabelWarnings } from '../core/node/deprecated-labels.ts'
import { type Toleration, toleration } from '../core/pod/scheduling.ts'
import { validateResources } from '../core/pod/validation/resources.ts'
import { validateTolerations } from '../core/pod/validation/scheduling.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'

const nodeV1 = 'io.k8s.api.node.v1'

export interface RuntimeOverhead extends Infer<typeof runtimeOverhead> {}
export const runtimeOverhead = object(`${nodeV1}.Overhead`, 'What a runtime takes for itself.', {
  podFixed: optional(resourceList, 'Resources that each pod takes beside those of its containers.'),
})

export interface RuntimeScheduling extends Infer<typeof runtimeScheduling> {}
export const runtimeScheduling = object(`${nodeV1}.Scheduling`, 'Which nodes have a runtime.', {
  nodeSelector: optional(
    mapOf(string(), { mapType: 'atomic' }),
    'Labels of the nodes that have it. They are added to the node selector of pods.',
  ),
  tolerations: optional(atomicList(toleration), 'Taints of those nodes, which pods tolerate along with their own.'),
})

/** A way of running containers that pods may ask for by name. */
export interface RuntimeClass extends Infer<typeof runtimeClassSchema> {}
export const runtimeClassSchema = kindSchema(
  `${nodeV1}.RuntimeClass`,
  'A way of running containers, such as in virtual machines, which pods ask for by its name.',
  {
    handler: required(
      string({ format: 'dns1123-label' }),
      'What node agents call it in their own configuration. It cannot be changed.',
    ),
    overhead: optional(runtimeOverhead, 'What it takes for itself. It counts when pods are placed.'),
    scheduling: optional(runtimeScheduling, 'Which nodes have it; all of them unless set.'),
  },
)

const schedulingPath = FieldPath.of('scheduling')

function validate({ overhead, scheduling }: RuntimeClass): readonly FieldError[] {
  return [
    ...(overhead === undefined
      ? []
      : validateResources({ limits: overhead.podFixed }, new Set(), FieldPath.of('overhead'))),
    ...validateLabels(scheduling?.nodeSelector, schedulingPath.field('nodeSelector')),
    ...validateDistinctTolerations(scheduling?.tolerations ?? [], schedulingPath.field('tolerations')),
  ]
}

const shownToleration = (toleration?: Toleration): unknown => ({
  Key: toleration?.key ?? '',
  Operator: toleration?.operator ?? '',
  Value: toleration?.value ?? '',
  Effect: toleration?.effect ?? '',
  TolerationSeconds: toleration?.tolerationSeconds ?? null,
})

function validateDistinctTolerations(tolerations: readonly Toleration[], path: FieldPath): readonly FieldError[] {
  const repeated = repeatedAt(tolerations, ({ key = '', operator = '', value = '', effect = '' }) =>
    JSON.stringify([key, operator, value, effect]),
  )
  return [
    ...validateTolerations(tolerations, path),
    ...[...repeated].map((index) => duplicateField(path.index(index), shownToleration(tolerations[index]))),
  ]
}

/** `node.k8s.io/v1` runtimeclasses. */
export const runtimeClasses = kind<RuntimeClass>(runtimeClassSchema, {
  plural: 'runtimeclasses',
  namespaced: false,
  columns: [nameColumn, column('Handler', ({ handler }) => handler, { field: 'handler' }), ageColumn],
  rules: { createsOnUpdate: true, updatesUnconditionally: false },
  finalizers: 'any',
  validate,
  validateUpdate: (next, old) => checkUnchanged(next.handler ?? '', old.handler ?? '', FieldPath.of('handler')),
  warnings: ({ scheduling }) =>
    nodeLabelWarnings(Object.keys(scheduling?.nodeSelector ?? {}), () => FieldPath.of('scheduling', 'nodeSelector')),
})
