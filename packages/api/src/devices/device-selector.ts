/**
 * Selectors of devices: expressions in CEL over a variable `device`, with the type, the functions and the cost limits of upstream's
 * `dynamic-resource-allocation/cel`.
 */
import type { SizeAt, ValuePath } from '../cel/estimate.ts'
import { type ExpressionProblem, expressionProblem } from '../cel/expression-error.ts'
import { quantityValue, semver } from '../cel/library/kubernetes.ts'
import { compileCel } from '../cel/program.ts'
import { type CelType, type ObjectType, types, typeText } from '../cel/types.ts'
import { CelMap, CelObject, type CelValue } from '../cel/values.ts'
import { splitQualifiedName } from '../kinds/resource/device-names.ts'
import {
  attributesAndCapacitiesMax,
  attributeValueBytesMax,
  domainBytesMax,
  identifierBytesMax,
  selectorCostMax,
} from '../kinds/resource/limits.ts'
import type { Device, DeviceAttribute } from '../kinds/resource/resource-slice-schema.ts'

/** What a selector says of a device: whether it is selected, or why that cannot be said. */
export type SelectorOutcome = { readonly matches: boolean } | { readonly error: string }

/** A selector, ready to be asked. */
export interface DeviceSelectorProgram {
  /** The most that asking it can cost, in CEL's units; infinite where nothing bounds it. */
  readonly costMax: number
  /** `variables` are those of the device: `selectorVariables`. */
  matches(variables: ReadonlyMap<string, CelValue>): SelectorOutcome
}

/** Compiles a selector, or says in upstream's words why it is none. */
export function compileDeviceSelector(
  expression: string,
): { readonly selector: DeviceSelectorProgram } | ExpressionProblem {
  const compiled = compileCel(expression, new Map([['device', deviceType]]), { extension: 'bindings', typeProblem })
  if ('problem' in compiled) return expressionProblem(compiled)
  const { program } = compiled
  return {
    selector: {
      costMax: program.estimateCost(sizeAt).max,
      matches: (variables) => {
        const outcome = program.run(variables, selectorCostMax)
        if ('error' in outcome) return { error: outcome.error }
        if (typeof outcome.value === 'boolean') return { matches: outcome.value }
        return { error: 'CEL result could not be converted to bool' }
      },
    },
  }
}

const typeProblem = (type: CelType): string | undefined =>
  type.kind === 'bool' || type.kind === 'dyn'
    ? undefined
    : `must evaluate to bool or the unknown type, not ${typeText(type)}`

const stringOf = (maxSize: number): CelType => ({ kind: 'string', maxSize })
const attributeType: CelType = { kind: 'dyn', maxSize: attributeValueBytesMax }

const mapsByDomain = (value: CelType): CelType => ({
  kind: 'map',
  maxSize: attributesAndCapacitiesMax,
  key: stringOf(domainBytesMax),
  value: { kind: 'map', maxSize: attributesAndCapacitiesMax, key: stringOf(identifierBytesMax), value },
})

const deviceType: ObjectType = {
  kind: 'object',
  name: 'kubernetes.DRADevice',
  fields: new Map<string, CelType>([
    ['driver', stringOf(domainBytesMax)],
    ['attributes', mapsByDomain(attributeType)],
    ['capacity', mapsByDomain({ kind: 'opaque', name: 'kubernetes.Quantity' })],
    ['allowMultipleAllocations', types.bool],
  ]),
}

/** How large what is on a way from `device` may be. */
const sizeAt: SizeAt = (path: ValuePath) => {
  const [root, ...names] = path
  if (root !== 'device') return undefined
  let type: CelType = deviceType
  for (const name of names) {
    const next = partOf(type, name)
    if (next === undefined) return undefined
    type = next
  }
  return { min: 0, max: 'maxSize' in type ? (type.maxSize ?? 0) : 0 }
}

function partOf(type: CelType, name: string): CelType | undefined {
  if (type.kind === 'object') return type.fields.get(name)
  if (type.kind !== 'map') return undefined
  if (name === '@keys') return type.key
  if (name === '@values' || name === '@items') return type.value
  // Whatever an attribute is called, its size is known.
  return type.value === attributeType ? attributeType : undefined
}

const noEntries = new CelMap([])

/** Attributes by domain. Of a domain that is not there, there are none. */
class MapByDomain extends CelMap {
  override get(key: CelValue): CelValue | undefined {
    return super.get(key) ?? noEntries
  }
}

/** The variables of a selector for a device. Throws where an attribute has no value. */
export function selectorVariables(driver: string, device: Device): ReadonlyMap<string, CelValue> {
  const fields = new Map<string, CelValue>([
    ['driver', driver],
    ['attributes', byDomain(driver, device.attributes ?? {}, attributeValue)],
    ['capacity', byDomain(driver, device.capacity ?? {}, ({ value }) => quantityValue(value))],
    ['allowMultipleAllocations', device.allowMultipleAllocations ?? false],
  ])
  const object = new CelObject(
    deviceType.name,
    () => [...fields.keys()],
    (name) => fields.get(name),
  )
  return new Map([['device', object]])
}

function byDomain<T>(driver: string, values: Readonly<Record<string, T>>, valueFor: (value: T) => CelValue): CelMap {
  const domains = new Map<string, Map<string, CelValue>>()
  for (const [name, value] of Object.entries(values)) {
    const [domain, identifier] = splitQualifiedName(name, driver)
    const known = domains.get(domain) ?? new Map<string, CelValue>()
    known.set(identifier, valueFor(value))
    domains.set(domain, known)
  }
  return new MapByDomain(
    [...domains].map(([domain, entries]): readonly [string, CelMap] => [domain, new CelMap(entries)]),
  )
}

function attributeValue({ int, bool, string, version }: DeviceAttribute): CelValue {
  if (int !== undefined) return BigInt(int)
  if (bool !== undefined) return bool
  if (string !== undefined) return string
  if (version !== undefined) return semver(version)
  throw new Error('unsupported attribute value')
}
