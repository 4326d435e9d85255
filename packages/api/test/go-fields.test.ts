/**
 * Compares the fields of every built-in kind with those of upstream's structs: which zero values are absence, which are values
 * that somebody chose, and which are written whatever they are. `data/README.md` says where the facts come from.
 */
import { describe, expect, it } from 'vitest'
import {
  declaredFields,
  isHeldByValue,
  isNullWithoutStruct,
  isZeroWithoutPort,
  writtenByGo,
} from '../src/go-structs/index.ts'
import { builtinResources } from '../src/kinds/builtin-kinds.ts'
import { deployments, limitRanges, podDisruptionBudgets, podSchema } from '../src/kinds/index.ts'
import { compile } from '../src/schema/compile.ts'
import { isWrittenZero, omittedZero, zeroOf } from '../src/schema/go/go-types.ts'
import { isWrittenAsNull, withNulls, withoutNulls } from '../src/schema/go/nulls.ts'
import { resolveSchema } from '../src/schema/resolve.ts'
import type { Field, ObjectSchema } from '../src/schema/schema.ts'
import { readGoFields } from './data/extract-go-fields.ts'
import { definitions } from './definitions.ts'

const facts = readGoFields()

/** Answers that the server itself makes, and lists. */
const made = /^io\.k8s\.(api\.authentication|.*List\.metadata$|.*\.Status\.metadata$)/

interface Declared {
  readonly path: string
  readonly field: Field
  /** As Go has it: `*int32,omitempty`. */
  readonly go: string
}

const scalar = /^\*?(string|bool|int32|int64|float64|bytes)\b/
const fields = [...definitions()].flatMap(([name, schema]) => fieldsOf(name, schema))
const scalars = fields.filter(({ go }) => scalar.test(go))
const plainScalars = scalars.filter(({ go }) => !go.startsWith('*'))

describe('scalars', () => {
  it('are those of every kind', () => {
    // Every kind alone brings more than ten: a walk that found few would prove nothing.
    expect(scalars.length).toBeGreaterThan(builtinResources.length * 10)
  })

  it('are pointers where Go has pointers', () => {
    expect(paths(scalars.filter(({ field, go }) => (field.pointer === true) !== go.startsWith('*')))).toEqual([])
  })

  it('are absent where they are zero and Go omits them', () => {
    // What is required is refused where it is zero.
    const omitted = plainScalars.filter(({ field, go }) => go.includes(',omitempty') && !field.required)
    expect(paths(omitted.filter(({ field }) => omittedZero(field) === undefined))).toEqual([])
  })

  it('are there where they are zero and Go writes them', () => {
    // Two have a default that takes the place of an empty string.
    const written = plainScalars.filter(({ field, go }) => !go.includes(',omitempty') && !hasOtherDefault(field))
    expect(paths(written.filter(({ field }) => !isWrittenZero(field)))).toEqual([])
  })
})

describe('structs', () => {
  it('are there where Go holds them by value', () => {
    const structs = fields.filter(({ go }) => go.startsWith('struct'))
    const missing = structs.filter(({ field }) => {
      const { required, byValue, default: value } = field
      return !required && byValue !== true && value === undefined
    })
    expect(paths(missing).filter((path) => !made.test(path))).toEqual([])
  })
})

describe('what clients print', () => {
  const structs = [...definitions()].filter(([name]) => facts[name] !== undefined)

  it('has fields in the order of the structs', () => {
    // What is of a kind stands before everything else, whatever the struct has.
    const isCompared = (name: string, schema: ObjectSchema) => (member: string) =>
      member in (facts[name] ?? {}) && member in schema.fields && !['kind', 'apiVersion'].includes(member)
    const wrong = structs.filter(([name, schema]) => {
      const own = declaredFields(schema).filter(isCompared(name, schema))
      const go = Object.keys(facts[name] ?? {}).filter(isCompared(name, schema))
      return own.join(' ') !== go.join(' ')
    })
    expect(wrong.map(([name]) => name)).toEqual([])
  })

  it('has the structs that others hold by value', () => {
    const wrong = structs.flatMap(([name, schema]) =>
      fieldsOf(name, schema)
        .filter(({ field }) => resolveSchema(field.schema).type === 'object')
        .filter(({ path, go }) => isHeldByValue(schema, path.slice(name.length + 1)) !== go.startsWith('struct'))
        .map(({ path }) => path),
    )
    expect(wrong.filter((path) => !made.test(path))).toEqual([])
  })

  it('has nulls for structs that are not there and not omitted', () => {
    const wrong = structs.flatMap(([name, schema]) =>
      fieldsOf(name, schema)
        .filter(({ field }) => resolveSchema(field.schema).type === 'object')
        .filter(({ path, field, go }) => {
          const isWritten = isWrittenAsNull(field) || isNullWithoutStruct(schema, path.slice(name.length + 1))
          return isWritten !== (go.startsWith('*') && !isOmitted(go))
        })
        .map(({ path }) => path),
    )
    expect(wrong).toEqual([])
  })

  it('has zeros for ports that structs have in themselves', () => {
    const ports = structs.flatMap(([name, schema]) =>
      fieldsOf(name, schema)
        .filter(({ field }) => resolveSchema(field.schema).type === 'int-or-string')
        .map((field) => ({ ...field, isZero: isZeroWithoutPort(schema, field.path.slice(name.length + 1)) })),
    )
    expect(ports.filter(({ go, isZero }) => isZero === go.startsWith('*')).map(({ path }) => path)).toEqual([])
    expect(ports.filter(({ isZero }) => isZero)).toHaveLength(3)
  })

  it('has what Go writes of a deployment that says little', () => {
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec: { template: { spec: {} } } }
    expect(writtenByGo(deployments.schema, object as never)).toEqual({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} },
      spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
      status: {},
    })
  })
})

describe('what may be nil', () => {
  const nilled = fields.filter(
    ({ field, go }) => /^(list|map|bytes|Time|MicroTime|\*)/.test(go) && !isAlwaysThere(field),
  )

  it('is null where Go writes it', () => {
    const written = nilled.filter(({ go }) => !isOmitted(go))
    expect(written.length).toBeGreaterThan(50)
    expect(paths(written.filter(({ field }) => !isWrittenAsNull(field)))).toEqual([])
  })

  it('is absent where Go omits it', () => {
    // What is required is refused where it is empty.
    expect(paths(nilled.filter(({ field, go }) => isOmitted(go) && !field.required && isWrittenAsNull(field)))).toEqual(
      [],
    )
  })
})

describe('nulls', () => {
  it('stand in JSON for what is nil, in the order of the fields', () => {
    const object = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: {} },
      spec: { containers: [{ name: 'a' }], volumes: [{ name: 'a', projected: { defaultMode: 420 } }] },
      status: {
        conditions: [{ type: 'Ready', status: 'True', reason: 'x' }],
        containerStatuses: [{ name: 'a', state: { running: {} } }],
      },
    }
    const json = withNulls(podSchema, object as never)
    expect(JSON.stringify(json)).toBe(
      '{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[{"name":"a"}],' +
        '"volumes":[{"name":"a","projected":{"sources":null,"defaultMode":420}}]},"status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":null,' +
        '"lastTransitionTime":null,"reason":"x"}],"containerStatuses":[{"name":"a","state":{"running":{"startedAt":null}}}]}}',
    )
    expect(withoutNulls(podSchema, json)).toEqual(object)
  })

  it('stand for empty lists', () => {
    const object = { apiVersion: 'v1', kind: 'LimitRange', metadata: {}, spec: { limits: [] } }
    const json = withNulls(limitRanges.schema, object)
    expect(json).toEqual({ ...object, spec: { limits: null } })
    expect(withoutNulls(limitRanges.schema, json)).toEqual(object)
  })

  it('stand for times in a map that are not set', () => {
    const status = { disruptedPods: { a: '', b: '2026-01-02T03:04:05Z' }, disruptionsAllowed: 0 }
    const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: {}, status }
    const json = withNulls(podDisruptionBudgets.schema, object as never) as unknown as typeof object
    expect(json.status.disruptedPods).toEqual({ a: null, b: '2026-01-02T03:04:05Z' })
    expect(withoutNulls(podDisruptionBudgets.schema, json as never)).toMatchObject({ status })
  })

  it('leave what is complete as it is', () => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [{ name: 'a' }] } }
    expect(withNulls(podSchema, object as never)).toBe(object)
    expect(withoutNulls(podSchema, object as never)).toBe(object)
  })
})

describe('zero values of a pod', () => {
  const decode = (spec: object): unknown =>
    (compile(podSchema).decode({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec }).value as { spec: unknown }).spec

  it('are absence where Go has no pointer', () => {
    expect(decode({ containers: [{ name: '', stdin: false }], hostNetwork: false, nodeName: '' })).toEqual({
      containers: [{ name: '' }],
    })
  })

  it('are values where Go has a pointer', () => {
    const spec = { containers: [], priority: 0, automountServiceAccountToken: false, runtimeClassName: '' }
    expect(decode(spec)).toEqual(spec)
  })

  it('are values to whoever applies them', () => {
    const spec = { containers: [], hostNetwork: false, nodeName: '', tolerations: [] }
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec }
    expect(compile(podSchema).decode(body, { keepsZeros: true }).value).toEqual(body)
  })
})

const isOmitted = (go: string): boolean => /,omitzero|^[^T]*,omitempty|^\*.*,omitempty/.test(go)

/** What is required or has a default is never nil; lists may be empty. */
const isAlwaysThere = ({ schema, required, default: value }: Field): boolean =>
  !['list', 'map', 'time'].includes(schema.type) && (required || value !== undefined)

const hasOtherDefault = ({ schema, default: value }: Field): boolean => value !== undefined && value !== zeroOf(schema)

const paths = (of: readonly Declared[]): readonly string[] => of.map(({ path }) => path)

/** Those that both have: `../parity.test.ts` says that none is missing. */
function fieldsOf(name: string, schema: ObjectSchema): readonly Declared[] {
  return Object.entries(facts[name] ?? {}).flatMap(([member, go]) => {
    const field = schema.fields[member]
    return field === undefined ? [] : [{ path: `${name}.${member}`, field, go }]
  })
}
