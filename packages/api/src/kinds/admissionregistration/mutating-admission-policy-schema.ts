import { kindSchema } from '../../meta.ts'
import { atomicList, enumOf, mapList, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { matchResources } from './match-resources-schema.ts'
import { admissionregistrationV1 } from './names.ts'
import { matchCondition } from './rule-schema.ts'
import { paramKind, variable } from './validating-admission-policy-schema.ts'

const applyConfiguration = object(
  `${admissionregistrationV1}.ApplyConfiguration`,
  'An expression whose result is applied to the object.',
  {
    expression: optional(
      string(),
      'In CEL: an object of type Object, such as Object{spec: Object.spec{paused: true}}.',
    ),
  },
)

const jsonPatch = object(`${admissionregistrationV1}.JSONPatch`, 'A change by a JSON patch (RFC 6902).', {
  expression: optional(string(), 'In CEL: a list of JSONPatch{op: "add", path: "/spec/paused", value: true}.'),
})

/** A change that a policy makes. */
export interface Mutation extends Infer<typeof mutation> {}
const mutation = object(`${admissionregistrationV1}.Mutation`, 'A change that a policy makes.', {
  applyConfiguration: optional(applyConfiguration, 'A change that is merged as by server-side apply.'),
  jsonPatch: optional(jsonPatch, 'A change by a JSON patch.'),
  patchType: required(string(), 'Which of the two it is: ApplyConfiguration or JSONPatch.', { default: '' }),
})

export interface MutatingAdmissionPolicySpec extends Infer<typeof spec> {}
const spec = object(
  `${admissionregistrationV1}.MutatingAdmissionPolicySpec`,
  'Requests that a policy is about, and the changes that it makes.',
  {
    failurePolicy: pointer(
      enumOf('Fail', 'Ignore'),
      'What becomes of a request that a mutation cannot be made of: it is refused, or goes on.',
      { default: 'Fail' },
    ),
    matchConditions: optional(
      mapList(matchCondition, ['name']),
      'Further conditions that a request must meet. At most 64.',
    ),
    matchConstraints: optional(matchResources, 'The requests that it is about. Deletes cannot be changed.'),
    mutations: optional(atomicList(mutation), 'The changes, one after the other.'),
    paramKind: optional(paramKind, 'The kind of the objects that hold parameters. Bindings say which objects.'),
    reinvocationPolicy: optional(
      string(),
      'Never, or IfNeeded: it is asked again where something else changed the object after it.',
    ),
    variables: optional(atomicList(variable), 'Values that expressions share, each after those it uses.'),
  },
)

/** Changes in CEL of what is written. A binding puts it in force. */
export interface MutatingAdmissionPolicy extends Infer<typeof mutatingAdmissionPolicySchema> {}
export const mutatingAdmissionPolicySchema = kindSchema(
  `${admissionregistrationV1}.MutatingAdmissionPolicy`,
  'Changes in CEL of what is written. Nothing comes of them without a MutatingAdmissionPolicyBinding.',
  { spec: optional(spec, 'What the policy changes of which requests.', { default: {} }) },
)
