import { describe, expect, it } from 'vitest'
import { created, type Draft, decoded } from '../test/requests.ts'
import { type FieldError, fieldErrorsMax, invalidField, shownValueLengthMax } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { validatingAdmissionPolicies } from './kinds/admissionregistration/validating-admission-policy.ts'
import { validatingWebhookConfigurations } from './kinds/admissionregistration/validating-webhook-configuration.ts'
import { customResourceDefinitions } from './kinds/apiextensions/custom-resource-definition.ts'
import { resolveFieldPath } from './kinds/apiextensions/schema-field-path.ts'
import { jobs } from './kinds/batch/job/job.ts'
import { certificateSigningRequests } from './kinds/certificates/certificate-signing-request.ts'
import { configMaps } from './kinds/core/config-map.ts'
import { nodes } from './kinds/core/node/node.ts'
import { type Pod, pods } from './kinds/core/pod/pod.ts'
import { secrets } from './kinds/core/secret.ts'
import { resourceClaims } from './kinds/resource/resource-claim.ts'
import { resourceSlices } from './kinds/resource/resource-slice.ts'
import { isReadableCaBundle } from './kinds/webhook-ca-bundle.ts'
import type { KubernetesObject } from './meta.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta-validation.ts'
import { compile } from './schema/compile.ts'
import { invalid } from './status.ts'
import type { StoredKind } from './stored-kind.ts'
import { countWork } from './testing/count-work.ts'

const listOf = <T>(length: number, element: (index: number) => T): readonly T[] =>
  Array.from({ length }, (_, index) => element(index))

const mapOf = (length: number, key: (index: number) => string, value = 'x'): Readonly<Record<string, string>> =>
  Object.fromEntries(listOf(length, (index) => [key(index), value]))

type Build = (length: number) => Readonly<Record<string, unknown>>

const meta =
  (metadata: Build): Build =>
  (length) => ({ metadata: metadata(length) })
const spec =
  (build: Build): Build =>
  (length) => ({ spec: { containers: [{ name: 'main', image: 'x' }], ...build(length) } })
const container = (build: Build): Build =>
  spec((length) => ({ ...build(length), containers: [{ name: 'main', image: 'x', ...build(length) }] }))
const owner = (index: number) => ({ apiVersion: 'v1', kind: 'Pod', name: `n${index}`, uid: `u${index}` })

/** Everything that is done to a body of this kind before it may be stored. */
function work(
  { schema, applyDefaults, strategy, namespaced, nameFormat }: StoredKind,
  body: unknown,
): readonly FieldError[] {
  const compiled = compile(schema)
  const decoded = compiled.applyDefaults(compiled.decode(body, { fieldValidation: 'Warn' }).value)
  const object = applyDefaults?.(decoded) ?? decoded
  const stored = strategy.prepareForCreate?.(object, 0) ?? object
  return [
    ...validateObjectMeta(stored.metadata, { namespaced, nameFormat }),
    ...validateObjectMetaUpdate({ ...stored.metadata, resourceVersion: '1' }, stored.metadata),
    ...compiled.validate(stored),
    ...(strategy.validate?.(stored, 'v1') ?? []),
    ...(strategy.validateCreate?.(stored, 'v1') ?? []),
    ...(strategy.validateUpdate?.({ ...stored }, JSON.parse(JSON.stringify(decoded)), 'v1') ?? []),
    ...(strategy.validateStatusUpdate?.(stored, stored) ?? []),
  ]
}

describe('the work of taking in one object grows with its size, not with its square', () => {
  it.each<[string, StoredKind, Build]>([
    ['labels', configMaps, meta((n) => ({ labels: mapOf(n, (index) => `a${index}`) }))],
    ['labels that are wrong', configMaps, meta((n) => ({ labels: mapOf(n, (index) => `-${index}`, '-') }))],
    ['annotations', configMaps, meta((n) => ({ annotations: mapOf(n, (index) => `a${index}`) }))],
    ['finalizers', configMaps, meta((n) => ({ finalizers: listOf(n, (index) => `example.com/${index}`) }))],
    ['owners', configMaps, meta((n) => ({ ownerReferences: listOf(n, owner) }))],
    [
      'owners that are all controllers',
      configMaps,
      meta((n) => ({ ownerReferences: listOf(n, (index) => ({ ...owner(index), controller: true })) })),
    ],
    ['keys of a ConfigMap', configMaps, (n) => ({ data: mapOf(n, (index) => `$${index}`) })],
    ['keys of a Secret', secrets, (n) => ({ data: mapOf(n, (index) => `$${index}`, 'eA==') })],
    ['unknown fields', configMaps, (n) => mapOf(n, (index) => `unknown${index}`)],
    ['taints', nodes, (n) => ({ spec: { taints: listOf(n, (i) => ({ key: `k${i}`, effect: 'NoExecute' })) } })],
    ['variables', pods, container((n) => ({ env: listOf(n, (i) => ({ name: `e${i}`, value: 'x' })) }))],
    [
      'ports',
      pods,
      container((n) => ({ ports: listOf(n, (i) => ({ name: `p${i}`, containerPort: i, hostPort: i })) })),
    ],
    ['containers', pods, spec((n) => ({ containers: listOf(n, (i) => ({ name: `c${i}`, image: 'x' })) }))],
    [
      'containers of a pod with volumes and claims',
      pods,
      spec((n) => ({
        volumes: listOf(n, (i) => ({ name: `v${i}` })),
        resourceClaims: listOf(n, (i) => ({ name: `r${i}`, resourceClaimName: 'x' })),
        containers: listOf(n, (i) => ({
          name: `c${i}`,
          image: 'x',
          volumeMounts: [{ name: `v${i}`, mountPath: '/a' }],
          resources: { claims: [{ name: `r${i}` }, { name: 'unknown' }] },
        })),
      })),
    ],
    [
      'init and ephemeral containers',
      pods,
      spec((n) => ({
        initContainers: listOf(n, (i) => ({ name: `i${i}`, image: 'x' })),
        ephemeralContainers: listOf(n, (i) => ({ name: `e${i}`, image: 'x', targetContainerName: `i${i}` })),
      })),
    ],
    [
      'mounts beside devices',
      pods,
      container((n) => ({
        volumes: listOf(n, (i) => ({ name: `v${i}` })),
        volumeMounts: listOf(n, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })),
        volumeDevices: listOf(n, (i) => ({ name: `v${i}`, devicePath: `/d${i}` })),
      })),
    ],
    ['uses of claims', pods, container((n) => ({ resources: { claims: listOf(n, (i) => ({ name: `r${i}` })) } }))],
    [
      'requests for many resources',
      pods,
      spec((n) => ({
        containers: listOf(n, (i) => ({
          name: `c${i}`,
          image: 'x',
          resources: { requests: { [`example.com/r${i}`]: '1' }, limits: { [`example.com/r${i}`]: '1' } },
        })),
      })),
    ],
    ['tolerations', pods, spec((n) => ({ tolerations: listOf(n, (i) => ({ key: `k${i}`, operator: 'Exists' })) }))],
    ['scheduling gates', pods, spec((n) => ({ schedulingGates: listOf(n, (i) => ({ name: `g${i}` })) }))],
    ['readiness gates', pods, spec((n) => ({ readinessGates: listOf(n, (i) => ({ conditionType: `g${i}` })) }))],
    [
      'spread constraints',
      pods,
      spec((n) => ({
        topologySpreadConstraints: listOf(n, (i) => ({
          maxSkew: 1,
          topologyKey: `k${i}`,
          whenUnsatisfiable: 'DoNotSchedule',
        })),
      })),
    ],
    [
      'affinity by label keys',
      pods,
      spec((n) => ({
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: 'a',
                labelSelector: { matchExpressions: listOf(n, (i) => ({ key: `a${i}`, operator: 'Exists' })) },
                matchLabelKeys: listOf(n, (i) => `a${i}`),
                mismatchLabelKeys: listOf(n, (i) => `b${i}`),
              },
            ],
          },
        },
      })),
    ],
    [
      'kernel parameters',
      pods,
      spec((n) => ({ securityContext: { sysctls: listOf(n, (i) => ({ name: `a.b${i}`, value: '1' })) } })),
    ],
    [
      'name servers',
      pods,
      spec((n) => ({ dnsConfig: { nameservers: listOf(n, () => 'x'), searches: listOf(n, () => '-') } })),
    ],
    [
      'files of a projected volume',
      pods,
      spec((n) => ({
        volumes: [
          {
            name: 'v',
            projected: { sources: listOf(n, (i) => ({ secret: { name: 's', items: [{ key: 'k', path: `p${i}` }] } })) },
          },
        ],
      })),
    ],
    [
      'statuses of containers that have ended',
      pods,
      (n) => ({
        spec: { restartPolicy: 'Never', containers: listOf(n, (i) => ({ name: `c${i}`, image: 'x' })) },
        status: {
          containerStatuses: listOf(n, (i) => ({ name: `c${i}`, state: { terminated: { exitCode: 0 } } })),
        },
      }),
    ],
  ])('%s', (_, definition, build) => {
    const { kind, version } = definition
    const body = (length: number) => ({ apiVersion: version, kind, metadata: { name: 'a' }, ...build(length) })
    const run = (input: unknown) => work(definition, input)
    // Decoders are made when they are first needed.
    run(body(1))
    const [few, many] = [countWork(body(100), run), countWork(body(1000), run)]
    expect(many / few).toBeLessThan(15)
  })
})

const text = (index: number): string => `a${index}`
const texts = (length: number): readonly string[] => listOf(length, text)

const jobWithCodes: Build = (n) => ({
  spec: {
    template: { spec: {} },
    podFailurePolicy: {
      rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: listOf(n, (index) => index + 1) } }],
    },
  },
})

const definition = (schema: object, more: object = {}): Draft => ({
  metadata: { name: 'crates.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'crates', kind: 'Crate' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  },
})

const converted = (n: number) => ({
  strategy: 'Webhook',
  webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: texts(n) },
})

const asked = (type: string, n: number): Draft => ({
  spec: { request: '', signerName: 'example.com/a' },
  status: { conditions: listOf(n, (index) => ({ type: `${type}${index}`, status: 'True' })) },
})

const reserved = (n: number): Draft => ({
  metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' },
  spec: {},
  status: { allocation: {}, reservedFor: listOf(n, (index) => ({ resource: 'pods', name: 'a', uid: text(index) })) },
})

/** How much work it takes to do something with what is made of a length. */
const workOn =
  <T>(build: (length: number) => T, run: (input: T) => unknown) =>
  (length: number): number =>
    countWork(build(length), run)

describe('a check goes through a list as often as it has to, not once for each item', () => {
  it.each<[string, (length: number) => number]>([
    [
      'exit codes of a Job',
      workOn(
        (n) => created(jobs, jobWithCodes(n)),
        (job) => jobs.strategy.validate?.(job, 'batch/v1'),
      ),
    ],
    [
      'versions that a webhook understands',
      workOn(
        (n) =>
          created(validatingWebhookConfigurations, { webhooks: [{ name: 'a', admissionReviewVersions: texts(n) }] }),
        (configuration) => validatingWebhookConfigurations.strategy.validate?.(configuration, ''),
      ),
    ],
    [
      'annotations of a policy',
      workOn(
        (n) =>
          created(validatingAdmissionPolicies, {
            spec: { auditAnnotations: listOf(n, (index) => ({ key: text(index), valueExpression: '' })) },
          }),
        (policy) => validatingAdmissionPolicies.strategy.validate?.(policy, ''),
      ),
    ],
    [
      'conditions of a device',
      workOn(
        (n) =>
          created(resourceSlices, {
            spec: {
              driver: 'a',
              pool: { name: 'a' },
              devices: [
                {
                  name: 'a',
                  bindingConditions: texts(n),
                  bindingFailureConditions: texts(n).map((each) => `b${each}`),
                },
              ],
            },
          }),
        (slice) => resourceSlices.strategy.validateCreate?.(slice, ''),
      ),
    ],
    [
      'whoever has reserved a claim that goes',
      workOn(
        (n) => ({ claim: decoded(resourceClaims, reserved(n)), old: decoded(resourceClaims, reserved(n)) }),
        ({ claim, old }) => resourceClaims.strategy.validateStatusUpdate?.(claim, old),
      ),
    ],
    [
      'conditions of a request for a certificate',
      workOn(
        (n) => ({
          request: decoded(certificateSigningRequests, asked('a', n)),
          old: decoded(certificateSigningRequests, asked('b', n)),
        }),
        ({ request, old }) => certificateSigningRequests.strategy.prepareForStatusUpdate?.(request, old, 0),
      ),
    ],
    [
      'finalizers of what is being deleted',
      workOn(
        (n) => {
          const shared = { name: 'a', resourceVersion: '1', deletionTimestamp: '2026-01-01T00:00:00Z' }
          return { metadata: { ...shared, finalizers: texts(n).slice(1) }, old: { ...shared, finalizers: texts(n) } }
        },
        ({ metadata, old }) => validateObjectMetaUpdate(metadata, old),
      ),
    ],
    [
      'versions that a converter understands',
      workOn(
        (n) => created(customResourceDefinitions, definition({ type: 'object' }, { conversion: converted(n) })),
        (each) => customResourceDefinitions.strategy.validateCreate?.(each, ''),
      ),
    ],
    [
      'required fields of a schema',
      workOn(
        (n) =>
          created(
            customResourceDefinitions,
            definition({
              type: 'object',
              required: texts(n),
              properties: Object.fromEntries(texts(n).map((each) => [each, { type: 'string' }])),
            }),
          ),
        (each) => customResourceDefinitions.strategy.validateCreate?.(each, ''),
      ),
    ],
  ])('%s', (_, work) => {
    work(1)
    expect(work(1000) / work(100)).toBeLessThan(15)
  })

  it('fields of a schema that paths lead through', () => {
    let lists = 0
    const properties = new Proxy(Object.fromEntries(texts(10).map((each) => [each, { type: 'string' }])), {
      ownKeys(fields) {
        lists += 1
        return Reflect.ownKeys(fields)
      },
    })
    for (const each of texts(10)) resolveFieldPath(`.${each}`, { type: 'object', properties }, { brackets: false })
    expect(lists).toBe(1)
  })

  it('blocks of certificates, of which most have no end', () => {
    const bundle = Buffer.from('-----BEGIN X-----\n'.repeat(100_000)).toString('base64')
    // With a pattern that looks for each end anew this takes minutes.
    expect(isReadableCaBundle(bundle)).toBe(false)
  })
})

describe('an answer to very many errors', () => {
  const errors = (count: number): readonly FieldError[] =>
    listOf(count, (index) => invalidField(FieldPath.of('data').key(String(index)), index, 'is wrong'))

  it('names the first, and says how many more there are', () => {
    const { message, status } = invalid({ group: '', kind: 'ConfigMap' }, 'a', errors(100_000))
    expect(message).toMatch(/^ConfigMap "a" is invalid: \[data\[0]: Invalid value: 0: is wrong, data\[1]: /)
    expect(message).toMatch(/data\[99]: .*, Too many errors: 99900 more are not shown]$/)
    expect(status.details?.causes).toHaveLength(fieldErrorsMax + 1)
    expect(status.details?.causes?.at(-1)).toEqual({
      reason: 'FieldValueTooMany',
      message: 'Too many errors: 99900 more are not shown',
      field: '',
    })
  })

  it('names all where they are few enough', () => {
    const { status } = invalid({ group: '', kind: 'ConfigMap' }, 'a', errors(fieldErrorsMax))
    expect(status.details?.causes).toHaveLength(fieldErrorsMax)
  })

  it('makes no text of those that it does not name', () => {
    const unread: FieldError = {
      type: 'FieldValueInvalid',
      get field(): string {
        throw new Error('nobody reads this')
      },
      get message(): string {
        throw new Error('nobody reads this')
      },
    }
    const all = [...errors(fieldErrorsMax), ...listOf(10, () => unread)]
    expect(invalid({ group: '', kind: 'ConfigMap' }, 'a', all).message).toContain('10 more are not shown')
  })

  it('shows only the beginning of a long value', () => {
    const path = FieldPath.of('spec')
    const text = invalidField(path, 'x'.repeat(100_000), 'is wrong').message
    expect(text).toBe(`Invalid value: "${'x'.repeat(shownValueLengthMax - 1)}...: is wrong`)
    const list = invalidField(path, listOf(100_000, owner), 'is wrong').message
    expect(list).toMatch(/^Invalid value: \[{"apiVersion":"v1","kind":"Pod",.*\.\.\.: is wrong$/)
    expect(list.length).toBeLessThan(shownValueLengthMax + 100)
    const fits = [owner(1), { nested: ['a', 1, null, true] }]
    expect(invalidField(path, fits, 'is wrong').message).toBe(`Invalid value: ${JSON.stringify(fits)}: is wrong`)
  })

  it('reads of a long value no more than it shows', () => {
    const show = (value: unknown) => invalidField(FieldPath.of('spec'), value, 'is wrong').message
    const [some, many] = [countWork(listOf(1_000, owner), show), countWork(listOf(10_000, owner), show)]
    expect(many / some).toBeLessThan(2)
  })
})

describe('fields of references', () => {
  it('are read in time that grows with their length', () => {
    const pod = (fieldPath: string) =>
      ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'a', image: 'x', env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath } } }] }] },
      }) as KubernetesObject as Pod
    // With a backtracking pattern this takes seconds.
    expect(pods.strategy.validate?.(pod(`a${"['".repeat(20_000)}`), 'v1')).toHaveLength(1)
  })
})
