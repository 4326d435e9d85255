import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  boolean,
  defaulted,
  int32,
  mapList,
  object,
  optional,
  required,
  setList,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { flowCondition } from './conditions.ts'
import { flowcontrolV1 } from './names.ts'

const named = (name: string, doc: string, of: string) =>
  object(`${flowcontrolV1}.${name}`, doc, { name: required(string(), of, { default: '' }) })

export const userSubject = named('UserSubject', 'A user.', 'Name of the user; * is everybody who has one.')
export const groupSubject = named('GroupSubject', 'A group of users.', 'Name of the group; * is every group.')
export const serviceAccountSubject = object(`${flowcontrolV1}.ServiceAccountSubject`, 'A service account.', {
  namespace: required(string(), 'Namespace of the account.', { default: '' }),
  name: required(string(), 'Name of the account; * is every one of the namespace.', { default: '' }),
})

/** Who makes requests that a rule matches. */
export interface FlowSubject extends Infer<typeof flowSubject> {}
export const flowSubject = object(
  `${flowcontrolV1}.Subject`,
  'Who makes a request: a user, a group or a service account.',
  {
    kind: required(string(), 'User, Group or ServiceAccount. The field of that name says which.', { default: '' }),
    user: optional(userSubject, 'The user, where the kind is User.'),
    group: optional(groupSubject, 'The group, where the kind is Group.'),
    serviceAccount: optional(serviceAccountSubject, 'The account, where the kind is ServiceAccount.'),
  },
  { unions: [{ discriminator: 'kind', fields: ['group', 'serviceAccount', 'user'], checked: false }] },
)

export interface ResourcePolicyRule extends Infer<typeof resourcePolicyRule> {}
export const resourcePolicyRule = object(
  `${flowcontrolV1}.ResourcePolicyRule`,
  'Requests for resources: those that fit each of its lists.',
  {
    verbs: required(
      setList(string(), { duplicates: 'allowed' }),
      'What is asked for, such as get or create; * is everything.',
      { default: [] },
    ),
    apiGroups: required(
      setList(string(), { duplicates: 'allowed' }),
      'API groups; "" is the core group, * every group.',
      { default: [] },
    ),
    resources: required(
      setList(string(), { duplicates: 'allowed' }),
      'Resources, such as pods or nodes/status; * is every one.',
      {
        default: [],
      },
    ),
    clusterScope: optional(boolean, 'Whether requests that name no namespace fit.'),
    namespaces: optional(
      setList(string(), { duplicates: 'allowed' }),
      'Namespaces; * is every one, and no namespace needs clusterScope.',
      {
        alwaysWritten: true,
      },
    ),
  },
)

export interface NonResourcePolicyRule extends Infer<typeof nonResourcePolicyRule> {}
export const nonResourcePolicyRule = object(
  `${flowcontrolV1}.NonResourcePolicyRule`,
  'Requests for paths that are no resources: those that fit both lists.',
  {
    verbs: required(setList(string(), { duplicates: 'allowed' }), 'Methods in lower case; * is every one.', {
      default: [],
    }),
    nonResourceURLs: required(
      setList(string(), { duplicates: 'allowed' }),
      'Paths, which may end in /*; * is every one.',
      { default: [] },
    ),
  },
)

export interface PolicyRulesWithSubjects extends Infer<typeof policyRulesWithSubjects> {}
export const policyRulesWithSubjects = object(
  `${flowcontrolV1}.PolicyRulesWithSubjects`,
  'Requests of somebody for something: it matches those of any of the subjects that any of the rules matches.',
  {
    subjects: required(atomicList(flowSubject), 'Who makes the requests.', { default: [] }),
    resourceRules: optional(atomicList(resourcePolicyRule), 'Which requests for resources.'),
    nonResourceRules: optional(atomicList(nonResourcePolicyRule), 'Which requests for other paths.'),
  },
)

export interface FlowSchemaSpec extends Infer<typeof flowSchemaSpec> {}
export const flowSchemaSpec = object(`${flowcontrolV1}.FlowSchemaSpec`, 'Which requests, and at which level.', {
  priorityLevelConfiguration: required(
    named('PriorityLevelConfigurationReference', 'Names a priority level.', 'Name of the PriorityLevelConfiguration.'),
    'The level at which these requests are answered.',
    { default: { name: '' }, byValue: true },
  ),
  matchingPrecedence: defaulted(
    int32(),
    'Of schemas that match a request that with the lowest number counts, from 1 to 10000; 1000 unless set.',
    0,
  ),
  distinguisherMethod: optional(
    object(`${flowcontrolV1}.FlowDistinguisherMethod`, 'What tells flows apart.', {
      type: required(string(), 'ByUser or ByNamespace.', { default: '' }),
    }),
    'What tells the flows of this schema apart, which take turns; all its requests are one flow unless set.',
  ),
  rules: optional(atomicList(policyRulesWithSubjects), 'It matches requests that any of these matches.'),
})

export const flowSchemaCondition = flowCondition(
  `${flowcontrolV1}.FlowSchemaCondition`,
  'One aspect of how a FlowSchema is: Dangling, where its level is not there.',
)

/** Which requests are answered at which priority level. */
export interface FlowSchema extends Infer<typeof flowSchemaSchema> {}
export const flowSchemaSchema = kindSchema(
  `${flowcontrolV1}.FlowSchema`,
  'Says which requests are answered at which priority level, and what tells flows of them apart.',
  {
    spec: optional(flowSchemaSpec, 'What it matches, and where that leads.', {
      default: { priorityLevelConfiguration: { name: '' }, matchingPrecedence: 0 },
    }),
    status: optional(
      object(`${flowcontrolV1}.FlowSchemaStatus`, 'How a FlowSchema is.', {
        conditions: optional(mapList(flowSchemaCondition, ['type'], { patchStrategy: 'merge' }), 'How it is, by type.'),
      }),
      'How it is.',
      { default: {} },
    ),
  },
)
