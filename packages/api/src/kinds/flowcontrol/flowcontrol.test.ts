import { beforeAll, describe, expect, it } from 'vitest'
import { compareText } from '../../compare-text.ts'
import { loadStructForms } from '../../internal-structs/struct-value.ts'
import type { KubernetesObject } from '../../meta.ts'
import { tableOf } from '../../table.ts'
import { flowSchemas, withPrecedence } from './flow-schema.ts'
import { priorityLevelConfigurations, withQueues } from './priority-level.ts'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './required-objects.ts'

beforeAll(loadStructForms)

// Rules and words of pkg/apis/flowcontrol/validation.

beforeAll(() => flowSchemas.strategy.load?.())

const errorsOf = (kind: typeof flowSchemas | typeof priorityLevelConfigurations, object: object) =>
  (kind.strategy.validate?.(object as never, '') ?? []).map(({ field, message }) => `${field}: ${message}`)

const everybody = [{ kind: 'Group', group: { name: 'system:authenticated' } }]
const resourceRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }
const urlRule = { verbs: ['*'], nonResourceURLs: ['*'] }
const rulesOf = (rule: object) => ({ rules: [{ subjects: everybody, nonResourceRules: [urlRule], ...rule }] })
const schema = (spec: object = {}, name = 'mine') => ({
  metadata: { name },
  spec: { priorityLevelConfiguration: { name: 'low' }, matchingPrecedence: 1000, ...spec },
})
const subject = (parts: object) => rulesOf({ subjects: [parts] })
const resources = (parts: object) => rulesOf({ resourceRules: [{ ...resourceRule, ...parts }] })
const urls = (parts: object) => rulesOf({ nonResourceRules: [{ ...urlRule, ...parts }] })

const at = 'spec.rules[0]'
const inResources = `${at}.resourceRules[0]`
const inUrls = `${at}.nonResourceRules[0]`
const inSubject = `${at}.subjects[0]`

it('FlowSchemas stand in a table in the order in which they are asked, as upstream shows them', () => {
  const list = [...mandatoryFlowSchemas, ...suggestedFlowSchemas].toSorted((a, b) =>
    compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
  )
  const { rows } = tableOf(flowSchemas, list, { nowMs: 0 })
  expect(rows.map(({ cells: [name, , precedence] }) => `${precedence} ${name}`)).toEqual([
    '1 exempt',
    '2 probes',
    '100 system-leader-election',
    '400 system-node-high',
    '500 system-nodes',
    '800 kube-controller-manager',
    '800 kube-scheduler',
    '900 kube-system-service-accounts',
    '9000 service-accounts',
    '9900 global-default',
    '10000 catch-all',
  ])
})

describe('a FlowSchema', () => {
  it('is fine as clusters have them, and with every kind of subject and rule', () => {
    for (const each of [...mandatoryFlowSchemas, ...suggestedFlowSchemas])
      expect(errorsOf(flowSchemas, each)).toEqual([])
    const subjects = [
      ...everybody,
      { kind: 'User', user: { name: '*' } },
      { kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } },
    ]
    const resourceRules = [resourceRule, { ...resourceRule, namespaces: [], clusterScope: true }]
    const nonResourceRules = [urlRule, { verbs: ['get', 'proxy'], nonResourceURLs: ['/', '/a/*', '/b'] }]
    expect(errorsOf(flowSchemas, schema({ rules: [{ subjects, resourceRules, nonResourceRules }] }))).toEqual([])
  })

  it.each<[string, object, string]>([
    [
      'no precedence',
      { matchingPrecedence: -1 },
      'spec.matchingPrecedence: Invalid value: -1: must be a positive value',
    ],
    [
      'too high a precedence',
      { matchingPrecedence: 10_001 },
      'spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000',
    ],
    [
      'the precedence of the exempt one',
      { matchingPrecedence: 1 },
      "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ],
    [
      'an unknown distinguisher',
      { distinguisherMethod: { type: 'ByColour' } },
      'spec.distinguisherMethod.type: Unsupported value: {"Type":"ByColour"}: supported values: "ByNamespace", "ByUser"',
    ],
    [
      'no level',
      { priorityLevelConfiguration: { name: '' } },
      'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
    ],
    [
      'no subject',
      rulesOf({ subjects: [] }),
      `${at}.subjects: Required value: subjects must contain at least one value`,
    ],
    [
      'nothing asked for',
      rulesOf({ nonResourceRules: [] }),
      `${at}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`,
    ],
    [
      'an unknown subject',
      subject({ kind: 'Robot' }),
      `${inSubject}.kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"`,
    ],
    [
      'a subject that is not named',
      subject({ kind: 'User' }),
      `${inSubject}.user: Required value: user is required when subject kind is 'User'`,
    ],
    ['a user without a name', subject({ kind: 'User', user: { name: '' } }), `${inSubject}.user.name: Required value`],
    [
      'another kind of subject beside',
      subject({ kind: 'User', user: { name: 'a' }, group: { name: 'b' } }),
      `${inSubject}.group: Forbidden: group is forbidden when subject kind is not 'Group'`,
    ],
    [
      'an account without a namespace',
      subject({ kind: 'ServiceAccount', serviceAccount: { namespace: '', name: 'a' } }),
      `${inSubject}.serviceAccount.namespace: Required value: must specify namespace for service account`,
    ],
    [
      'no verb',
      resources({ verbs: [] }),
      `${inResources}.verbs: Required value: verbs must contain at least one value`,
    ],
    [
      'all verbs and one',
      urls({ verbs: ['*', 'get'] }),
      `${inUrls}.verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
    ],
    [
      'an unknown verb',
      resources({ verbs: ['steal'] }),
      `${inResources}.verbs: Unsupported value: ["steal"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`,
    ],
    [
      'no group',
      resources({ apiGroups: [] }),
      `${inResources}.apiGroups: Required value: resource rules must supply at least one api group`,
    ],
    [
      'all resources and one',
      resources({ resources: ['*', 'pods'] }),
      `${inResources}.resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources`,
    ],
    [
      'no namespace',
      resources({ namespaces: [] }),
      `${inResources}.namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace`,
    ],
    [
      'all namespaces and one',
      resources({ namespaces: ['*', 'a'] }),
      `${inResources}.namespaces: Invalid value: ["*","a"]: if '*' is present, must not specify other namespaces`,
    ],
    [
      'no path',
      urls({ nonResourceURLs: [] }),
      `${inUrls}.nonResourceURLs: Required value: nonResourceURLs must contain at least one value`,
    ],
    [
      'all paths and one',
      urls({ nonResourceURLs: ['*', '/a'] }),
      `${inUrls}.nonResourceURLs: Invalid value: ["*","/a"]: if '*' is present, must not specify other non-resource URLs`,
    ],
    ...(
      [
        ['', 'must not be empty'],
        ['a', 'must start with slash'],
        ['/a b', 'must not contain white-space'],
        ['/a//b', 'must not contain double slash'],
        ['/a*', 'wildcard can only do suffix matching'],
        ['/*/*', 'wildcard can only do suffix matching'],
      ] as const
    ).map(([url, why]): [string, object, string] => [
      `the path ${url}`,
      urls({ nonResourceURLs: [url] }),
      `${inUrls}.nonResourceURLs[0]: Invalid value: ${JSON.stringify(url)}: ${why}`,
    ]),
  ])('is refused with %s', (_what, spec, error) => {
    expect(errorsOf(flowSchemas, schema(spec))).toEqual([error])
  })

  it('is as it is where every cluster has it', () => {
    const other = { ...schema({ matchingPrecedence: 1 }, 'exempt') }
    expect(errorsOf(flowSchemas, other)).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: spec of 'exempt' must equal the fixed value$/),
    ])
  })

  it('has conditions of a type each', () => {
    const status = { conditions: [{ type: 'a' }, { type: 'a' }, {}] }
    expect(errorsOf(flowSchemas, { ...schema(), status })).toEqual([
      'status.conditions[1].type: Duplicate value: "a"',
      'status.conditions[2].type: Required value',
    ])
  })

  it('has a precedence of 1000 unless it says another', () => {
    const given = { metadata: {}, spec: { priorityLevelConfiguration: { name: 'low' }, matchingPrecedence: 0 } }
    const filled = withPrecedence(given as never) as unknown as typeof given
    expect(filled.spec.matchingPrecedence).toBe(1000)
  })
})

const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 }
const limited = { nominalConcurrencyShares: 30, limitResponse: { type: 'Queue', queuing }, lendablePercent: 0 }
const level = (spec: object, name = 'low') => ({ metadata: { name }, spec })
const withLimited = (parts: object) => level({ type: 'Limited', limited: { ...limited, ...parts } })
const withQueuing = (parts: object) =>
  withLimited({ limitResponse: { type: 'Queue', queuing: { ...queuing, ...parts } } })

describe('a PriorityLevelConfiguration', () => {
  it('is fine as clusters have them, and with something set aside for what is exempt', () => {
    for (const each of [...mandatoryPriorityLevels, ...suggestedPriorityLevels])
      expect(errorsOf(priorityLevelConfigurations, each)).toEqual([])
    const exempt = { nominalConcurrencyShares: 7, lendablePercent: 100 }
    expect(errorsOf(priorityLevelConfigurations, level({ type: 'Exempt', exempt }, 'exempt'))).toEqual([])
  })

  it.each<[string, object, readonly (string | RegExp)[]]>([
    ['no type', level({ type: '' }), ['spec.type: Unsupported value: "": supported values: "Exempt", "Limited"']],
    [
      'an exemption',
      level({ type: 'Exempt' }),
      ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
    ],
    ['no limits', level({ type: 'Limited' }), ['spec.limited: Required value: must not be empty when type is Limited']],
    [
      'what an exempt one has',
      level({ type: 'Limited', limited, exempt: {} }),
      ['spec.exempt: Forbidden: must be nil if the type is Limited'],
    ],
    [
      'less than nothing',
      withLimited({ nominalConcurrencyShares: -1 }),
      ['spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer'],
    ],
    [
      'more lent than there is',
      withLimited({ lendablePercent: 101 }),
      ['spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive'],
    ],
    [
      'a negative limit of what it borrows',
      withLimited({ borrowingLimitPercent: -1 }),
      ['spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer'],
    ],
    [
      'no answer to too much',
      withLimited({ limitResponse: { type: '' } }),
      ['spec.limited.limitResponse.type: Unsupported value: "": supported values: "Queue", "Reject"'],
    ],
    [
      'queues of what is refused',
      withLimited({ limitResponse: { type: 'Reject', queuing } }),
      ['spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited'],
    ],
    [
      'no queues',
      withLimited({ limitResponse: { type: 'Queue' } }),
      [
        'spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited',
      ],
    ],
    [
      'a queue of no length',
      withQueuing({ queueLengthLimit: -1 }),
      ['spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive'],
    ],
    [
      'too many queues',
      withQueuing({ queues: 10_000_001, handSize: 1 }),
      ['spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000'],
    ],
    [
      'a hand of more queues than there are',
      withQueuing({ queues: 4 }),
      ['spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)'],
    ],
    [
      'a hand that no hash is long enough for',
      withQueuing({ queues: 128, handSize: 9 }),
      [
        'spec.limited.limitResponse.queuing.handSize: Invalid value: 9: required entropy bits of deckSize 128 and handSize 9 should not be greater than 60',
      ],
    ],
    [
      'the annotation of an older version',
      {
        ...level({ type: 'Limited', limited }),
        metadata: {
          name: 'low',
          annotations: { 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '' },
        },
      },
      [
        "metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
      ],
    ],
    [
      'another spec than every cluster has',
      level({ type: 'Limited', limited }, 'catch-all'),
      [/^spec: Invalid value: .*: spec of 'catch-all' must equal the fixed value$/],
    ],
  ])('is refused with %s', (_what, object, errors) => {
    expect(errorsOf(priorityLevelConfigurations, object)).toEqual(
      errors.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
    )
  })

  it('has queues as most have them unless it says otherwise', () => {
    const none = { queues: 0, handSize: 0, queueLengthLimit: 0 }
    const object = withQueuing(none) as unknown as KubernetesObject
    expect(withQueues(object as never)).toEqual(withQueuing({}))
  })
})
