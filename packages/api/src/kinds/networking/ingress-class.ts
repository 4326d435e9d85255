import { kindSchema } from '../../meta.ts'
import { literal, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { ingressChecks } from './ingress-checks.ts'
import { networkingV1 } from './names.ts'

export interface IngressClassParametersReference extends Infer<typeof ingressClassParametersReference> {}
export const ingressClassParametersReference = object(
  `${networkingV1}.IngressClassParametersReference`,
  'An object with settings for the controller of a class.',
  {
    apiGroup: pointer(string(), 'API group of the kind; absent for the core group.'),
    kind: required(string(), 'Kind of the object.'),
    name: required(string(), 'Name of the object.'),
    scope: pointer(literal<'Cluster' | 'Namespace'>(), 'Whether it is in a namespace: Cluster unless set.', {
      default: 'Cluster',
    }),
    namespace: pointer(string(), 'Namespace of the object, where the scope is Namespace.'),
  },
)

export interface IngressClassSpec extends Infer<typeof ingressClassSpec> {}
export const ingressClassSpec = object(`${networkingV1}.IngressClassSpec`, 'Who sees to ingresses of a class.', {
  controller: optional(string(), 'The controller, such as example.com/ingress-controller. It cannot be changed.'),
  parameters: optional(ingressClassParametersReference, 'Settings for the controller.'),
})

/** A way of carrying out ingresses, under a name that they refer to. */
export interface IngressClass extends Infer<typeof ingressClassSchema> {}
export const ingressClassSchema = kindSchema(
  `${networkingV1}.IngressClass`,
  'Says which controller sees to the ingresses that name it.',
  { spec: optional(ingressClassSpec, 'Who sees to ingresses of the class.', { default: {} }) },
)

const defaultClassAnnotation = 'ingressclass.kubernetes.io/is-default-class'

/** Whether ingresses that name no class get this one: an annotation says so. */
export const isDefaultIngressClass = ({ metadata }: IngressClass): boolean =>
  metadata.annotations?.[defaultClassAnnotation] === 'true'

const nameWithMark = (each: IngressClass): string =>
  `${each.metadata.name ?? ''}${isDefaultIngressClass(each) ? ' (default)' : ''}`

function shownParameters({ spec }: IngressClass): string {
  const { parameters } = spec ?? {}
  if (parameters === undefined) return '<none>'
  const { apiGroup, kind, name } = parameters
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
}

/** `networking.k8s.io/v1` ingressclasses. */
export const ingressClasses = kind<IngressClass>(ingressClassSchema, {
  plural: 'ingressclasses',
  namespaced: false,
  columns: [
    { ...nameColumn, cell: nameWithMark },
    column('Controller', ({ spec }) => spec?.controller ?? '', { field: 'spec.controller' }),
    column('Parameters', shownParameters, 'Settings for the controller.'),
    ageColumn,
  ],
  countsGenerations: true,
  load: ingressChecks.load,
  validate: (ingressClass) => ingressChecks.get().validateIngressClass(ingressClass),
  validateUpdate: (ingressClass, old) => ingressChecks.get().validateIngressClassUpdate(ingressClass, old),
})
