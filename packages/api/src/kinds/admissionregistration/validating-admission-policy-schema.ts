import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  enumOf,
  int64,
  mapList,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { condition } from '../meta/condition.ts'
import { matchResources } from './match-resources-schema.ts'
import { admissionregistrationV1 } from './names.ts'
import { matchCondition } from './rule-schema.ts'

/** A kind of objects that parameterize a policy. */
export interface ParamKind extends Infer<typeof paramKind> {}
export const paramKind = object(
  `${admissionregistrationV1}.ParamKind`,
  'The kind of the objects that hold parameters.',
  {
    apiVersion: optional(string(), 'Their API version, such as v1 or example.com/v1.'),
    kind: optional(string(), 'Their kind.'),
  },
  { mapType: 'atomic' },
)

/** Something that must be true of a request. */
export interface Validation extends Infer<typeof validation> {}
const validation = object(`${admissionregistrationV1}.Validation`, 'What must be true of a request.', {
  expression: required(string(), 'In CEL. The request is refused where it is not true.', { default: '' }),
  message: optional(string(), 'What the client is told then.'),
  reason: pointer(
    enumOf('Forbidden', 'Invalid', 'RequestEntityTooLarge'),
    'Why, in one word, which decides the code of the answer; Invalid unless said otherwise.',
  ),
  messageExpression: optional(
    string(),
    'What the client is told, in CEL. Instead of the message, if it comes to a text.',
  ),
})

/** Something that is noted in the audit log about a request. */
export interface AuditAnnotation extends Infer<typeof auditAnnotation> {}
const auditAnnotation = object(`${admissionregistrationV1}.AuditAnnotation`, 'What is noted in the audit log.', {
  key: required(string(), 'Under which key, behind the name of the policy.', { default: '' }),
  valueExpression: required(string(), 'What, in CEL: a text. Null notes nothing.', { default: '' }),
})

/** A value that the expressions of a policy share. */
export interface Variable extends Infer<typeof variable> {}
export const variable = object(
  `${admissionregistrationV1}.Variable`,
  'A value that expressions share, as variables.NAME.',
  {
    name: required(string(), 'What it is called.'),
    expression: required(string(), 'In CEL. It may use the variables before it.', { default: '' }),
  },
  { mapType: 'atomic' },
)

export interface ValidatingAdmissionPolicySpec extends Infer<typeof spec> {}
const spec = object(
  `${admissionregistrationV1}.ValidatingAdmissionPolicySpec`,
  'Requests that a policy is about, and what must be true of them.',
  {
    paramKind: optional(paramKind, 'The kind of the objects that hold parameters. Bindings say which objects.'),
    matchConstraints: optional(matchResources, 'The requests that it is about.'),
    validations: optional(atomicList(validation), 'What must be true of them.'),
    failurePolicy: pointer(
      enumOf('Fail', 'Ignore'),
      'What becomes of a request about which an expression has no value: it is refused, or goes on.',
      { default: 'Fail' },
    ),
    auditAnnotations: optional(atomicList(auditAnnotation), 'What is noted about them in the audit log.'),
    matchConditions: optional(
      mapList(matchCondition, ['name']),
      'Further conditions that a request must meet. At most 64.',
    ),
    variables: optional(
      mapList(variable, ['name'], { duplicates: 'allowed' }),
      'Values that expressions share, each after those it uses.',
    ),
  },
)

const expressionWarning = object(
  `${admissionregistrationV1}.ExpressionWarning`,
  'What may be wrong with an expression.',
  {
    fieldRef: required(string(), 'Where the expression is.', { default: '' }),
    warning: required(string(), 'What may be wrong with it.', { default: '' }),
  },
)

const typeChecking = object(`${admissionregistrationV1}.TypeChecking`, 'What was found in checking types.', {
  expressionWarnings: optional(atomicList(expressionWarning), 'What may be wrong with expressions.'),
})

const status = object(`${admissionregistrationV1}.ValidatingAdmissionPolicyStatus`, 'How the policy is doing.', {
  observedGeneration: optional(int64(), 'The generation that this is about.'),
  typeChecking: optional(typeChecking, 'What was found in checking the types of its expressions.'),
  conditions: optional(mapList(condition, ['type'], { patchStrategy: undefined }), 'Its aspects, by type.'),
})

/** Rules in CEL that requests must keep. A binding puts it in force. */
export interface ValidatingAdmissionPolicy extends Infer<typeof validatingAdmissionPolicySchema> {}
export const validatingAdmissionPolicySchema = kindSchema(
  `${admissionregistrationV1}.ValidatingAdmissionPolicy`,
  'Rules in CEL about what is written. Nothing comes of them without a ValidatingAdmissionPolicyBinding.',
  {
    spec: optional(spec, 'What the policy asks of which requests.', { default: {} }),
    status: optional(status, 'How the policy is doing. Only read.', { default: {} }),
  },
)
