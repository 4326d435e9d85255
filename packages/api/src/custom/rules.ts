/**
 * Rules of custom resources (`x-kubernetes-validations`): compiled when a schema is read, asked when an object is written, in
 * the words of apiextensions and within its limits of cost.
 */
import { CelError } from '../cel/errors.ts'
import { celValueOf } from '../cel/json-values.ts'
import { type CelOutcome, type CelProgram, compileCel } from '../cel/program.ts'
import { type CelType, optionalOf } from '../cel/types.ts'
import { CelList, CelMap, CelObject, type CelValue, Optional } from '../cel/values.ts'
import { deepEqual } from '../equality.ts'
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  internalField,
  invalidField,
  requiredField,
  toleratedError,
  unshownValue,
} from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { isJsonObject, member } from '../json.ts'
import { shownRule } from '../kinds/apiextensions/internal-form.ts'
import { unescaped } from '../kinds/apiextensions/schema-field-path.ts'
import { dear } from '../pieces.ts'
import type { CelRule, ObjectSchema, Rule, Schema } from '../schema/schema.ts'
import { isAsBefore } from '../schema/structural/as-before.ts'
import { byKey, keyOf } from '../schema/validate.ts'
import { cardinalityMax, celBinding, sizesWithin } from './cel-types.ts'

/** One expression may not be able to cost more, by the sizes that its schema allows. */
export const ruleCostMax = 10_000_000
/** Nor all of a schema together. */
export const schemaCostMax = 100_000_000
/** What one evaluation may cost. */
export const evaluationCostMax = 1_000_000
/** What all evaluations for one object may cost. */
export const objectCostMax = 10_000_000
/** Messages that expressions make may not be longer, in characters. */
export const messageLengthMax = 5 * 1024

/** What a character of an expression takes to compile, in steps of one that is asked. */
const characterWeight = 10

interface CompiledRule {
  readonly rule: CelRule
  readonly program: CelProgram
  readonly message: CelProgram | undefined
  readonly usesOldSelf: boolean
  readonly fieldPath: FieldPathSteps | undefined
}

/** A rule that cannot be asked, which refuses whatever it is about: of a definition that was stored nevertheless. */
interface BrokenRule {
  readonly problem: string
}

/** A node of the schema that has rules, or has such nodes in it. */
interface RuleNode {
  readonly schema: Schema
  readonly rules: readonly (CompiledRule | BrokenRule)[]
  readonly fields: readonly (readonly [name: string, node: RuleNode])[]
  readonly values: RuleNode | undefined
  readonly items: RuleNode | undefined
}

export interface CompiledRules {
  /** Asks all rules; undefined where there are none. */
  readonly rule: Rule<unknown> | undefined
  readonly errors: readonly FieldError[]
  /** What is wrong with the rules taken together. */
  readonly totalErrors: readonly FieldError[]
}

/**
 * Compiles the rules in a schema that stands at `path`. Those of a part in which something else is wrong (`faults`) are passed
 * over: what their expressions would be about is not sure.
 */
export function compileRules(schema: Schema, path: FieldPath, faults: readonly FieldError[] = []): CompiledRules {
  const reading: Reading = { errors: [], total: 0, dearest: [], faulty: faults.map(({ field }) => field) }
  const node = readNode(schema, path, { cardinality: 1, uncorrelatable: undefined }, reading)
  const { errors } = reading
  const totalErrors = totalCostErrors(reading, path)
  if (node === undefined) return { rule: undefined, errors, totalErrors }
  return {
    rule: (value, { path: at, old }) => {
      const asking: Asking = { errors: [], left: objectCostMax, ended: false }
      askNode(node, value, old, at, old !== undefined && deepEqual(value, old), asking)
      return asking.errors
    },
    errors,
    totalErrors,
  }
}

function totalCostErrors({ total, dearest }: Reading, path: FieldPath): readonly FieldError[] {
  if (total <= schemaCostMax) return []
  const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
  return [
    ...dearest.map(({ path: at }) => forbiddenField(at, detail)),
    forbiddenField(path, costMessage(name, total, schemaCostMax)),
  ]
}

interface Reading {
  readonly errors: FieldError[]
  total: number
  /** The four that cost most, of those that cost a hundredth of the limit. */
  dearest: { readonly path: FieldPath; readonly cost: number }[]
  /** Fields in which something else is wrong. */
  readonly faulty: readonly string[]
}

/** What holds for all that is in a node. */
interface Surroundings {
  /** How often the node may be in an object; undefined in a list or a map that the schema does not bound. */
  readonly cardinality: number | undefined
  /** The list in which elements cannot be found again after an update. */
  readonly uncorrelatable: FieldPath | undefined
}

function readNode(schema: Schema, path: FieldPath, around: Surroundings, reading: Reading): RuleNode | undefined {
  const within = schema.type === 'object' ? fieldSurroundings(schema, around, path) : around
  const fields =
    schema.type === 'object'
      ? Object.entries(schema.fields).flatMap(([name, field]) => {
          const node = readNode(field.schema, path.field('properties').key(name), within, reading)
          return node === undefined ? [] : [[name, node] as const]
        })
      : []
  const values =
    schema.type === 'map'
      ? readNode(schema.values, path.field('additionalProperties'), repeated(schema, around, path), reading)
      : undefined
  const items =
    schema.type === 'list'
      ? readNode(schema.items, path.field('items'), repeated(schema, around, path), reading)
      : undefined
  const rules = readRules(schema, path, around, reading)
  if (rules.length === 0 && fields.length === 0 && values === undefined && items === undefined) return undefined
  return { schema, rules, fields, values, items }
}

/** Nobody knows how fields are found again in a map of a type that nobody knows. */
function fieldSurroundings({ mapType }: ObjectSchema, around: Surroundings, path: FieldPath): Surroundings {
  const isKnown = mapType === undefined || mapType === 'granular' || mapType === 'atomic'
  return isKnown ? around : { ...around, uncorrelatable: around.uncorrelatable ?? path }
}

function repeated(schema: Schema, around: Surroundings, path: FieldPath): Surroundings {
  const limit = schema.type === 'list' ? schema.checks?.maxItems : schema.checks?.maxProperties
  const isBounded = around.cardinality !== undefined && limit !== undefined
  const unfindable = schema.type === 'list' && schema.listType !== 'map'
  return {
    cardinality: isBounded ? around.cardinality * limit : undefined,
    uncorrelatable: around.uncorrelatable ?? (unfindable ? path : undefined),
  }
}

function readRules(schema: Schema, path: FieldPath, around: Surroundings, reading: Reading): RuleNode['rules'] {
  const { cel = [] } = schema
  if (cel.length === 0 || hasFaults(path, reading)) return []
  const at = path.field('x-kubernetes-validations')
  const self = celBinding(schema)?.type
  if (self === undefined) {
    reading.errors.push(untypedRules(path))
    return []
  }
  return cel.flatMap((rule, index) => readRule(rule, schema, self, at.index(index), around, reading) ?? [])
}

/** Rules about what has no type that expressions know. */
export const untypedRules = (path: FieldPath): FieldError =>
  internalField(
    path.field('x-kubernetes-validations'),
    'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
  )

function hasFaults(path: FieldPath, { faulty }: Reading): boolean {
  if (faulty.length === 0) return false
  const text = path.toString()
  return faulty.some((field) => field.startsWith(`${text}.`) || field.startsWith(`${text}[`))
}

function readRule(
  rule: CelRule,
  schema: Schema,
  self: CelType,
  path: FieldPath,
  around: Surroundings,
  reading: Reading,
): CompiledRule | BrokenRule | undefined {
  const { errors } = reading
  const fieldPath = rule.fieldPath === undefined ? undefined : readFieldPath(rule.fieldPath, schema)
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(self) : self
  const variables = new Map([
    ['self', self],
    ['oldSelf', oldSelf],
  ])
  const read = readExpression(rule, 'rule', rule.rule, variables, path, reading)
  const program = 'program' in read ? read.program : undefined
  if (program !== undefined)
    countCost(program, 'rule', self, around.cardinality ?? cardinalityMax(schema), path, reading)
  const { messageExpression = '' } = rule
  // Of a rule that cannot be read the message is not looked at.
  const readMessage =
    messageExpression === '' || program === undefined
      ? undefined
      : readExpression(rule, 'messageExpression', messageExpression, variables, path, reading)
  const message = readMessage !== undefined && 'program' in readMessage ? readMessage.program : undefined
  // As upstream has it what a message costs counts once.
  if (message !== undefined) countCost(message, 'messageExpression', self, 1, path, reading)
  const usesOldSelf = program?.uses('oldSelf') ?? false
  if (usesOldSelf && around.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${around.uncorrelatable}`
    errors.push(invalidField(path.field('rule'), rule.rule, detail))
  }
  if (rule.optionalOldSelf !== undefined && !usesOldSelf) {
    const detail = 'may not be set if oldSelf is not used in rule'
    errors.push(invalidField(path.field('optionalOldSelf'), rule.optionalOldSelf, detail))
  }
  if (program !== undefined) return { rule, program, message, usesOldSelf, fieldPath }
  // As upstream has it an empty rule asks nothing.
  return 'problem' in read && rule.rule.trim() !== '' ? read : undefined
}

function readExpression(
  rule: CelRule,
  name: 'rule' | 'messageExpression',
  source: string,
  variables: ReadonlyMap<string, CelType>,
  path: FieldPath,
  reading: Reading,
): { readonly program: CelProgram } | BrokenRule {
  const broken = (problem: string): BrokenRule => {
    reading.errors.push(invalidField(path.field(name), shownRule(rule), problem))
    return { problem }
  }
  const { wanted, stages } = expressions[name]
  const compiled = dear(
    rule,
    () => `${path} ${name}`,
    source,
    () => compileCel(source, variables, { typeProblem: ({ kind }) => (kind === wanted ? undefined : '') }),
    () => source.length * characterWeight,
  )
  return 'problem' in compiled ? broken(`${stages[compiled.stage]}${compiled.problem}`) : compiled
}

/** What they are to come to, and what is said of a problem, by the stage at which it is found. */
const expressions = {
  rule: {
    wanted: 'bool',
    stages: {
      type: 'cel expression must evaluate to a bool',
      compilation: 'compilation failed: ',
      instantiation: 'program instantiation failed: ',
    },
  },
  messageExpression: {
    wanted: 'string',
    stages: {
      type: 'messageExpression must evaluate to a string',
      compilation: 'messageExpression compilation failed: ',
      instantiation: 'messageExpression instantiation failed: ',
    },
  },
} as const

function countCost(
  program: CelProgram,
  name: 'rule' | 'messageExpression',
  self: CelType,
  cardinality: number,
  path: FieldPath,
  reading: Reading,
): void {
  const at = path.field(name)
  const { max } = program.estimateCost(sizesWithin(self))
  const cost = max === 0 ? 0 : max * cardinality
  if (cost > ruleCostMax) {
    const what = name === 'rule' ? 'estimated rule cost' : 'estimated messageExpression cost'
    reading.errors.push(forbiddenField(at, costMessage(what, cost, ruleCostMax)))
  }
  reading.total += cost
  if (cost >= schemaCostMax / 100) {
    reading.dearest = [...reading.dearest, { path: at, cost }].sort((a, b) => b.cost - a.cost).slice(0, 4)
  }
}

function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const times = factor > 100 ? 'more than 100x' : `${factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${times} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

/** Where under a node an error belongs: fields by name, values of maps by key. */
type FieldPathSteps = readonly { readonly name: string; readonly isKey: boolean }[]

const fieldPathStep = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y

/** Reads a path such as `.spec.parts['a-b']`, which has been found to be good. */
function readFieldPath(text: string, schema: Schema): FieldPathSteps {
  const steps: { readonly name: string; readonly isKey: boolean }[] = []
  let at = 0
  let below: Schema | undefined = schema
  while (at < text.length) {
    fieldPathStep.lastIndex = at
    const step = fieldPathStep.exec(text)
    if (step === null) return steps
    const quoted = unescaped(step[2] ?? '')
    const name: string = step[1] ?? (typeof quoted === 'string' ? quoted : '')
    if (below?.type === 'object') {
      below = Object.hasOwn(below.fields, name) ? below.fields[name]?.schema : undefined
      steps.push({ name, isKey: false })
    } else if (below?.type === 'map') {
      below = below.values
      steps.push({ name, isKey: true })
    } else below = undefined
    if (below === undefined) return steps
    at += step[0].length
  }
  return steps
}

interface Asking {
  readonly errors: FieldError[]
  /** How much rules may still cost. */
  left: number
  /** No rule is asked any more. */
  ended: boolean
}

/** `kept`: the value, or what it is in, is as it was before: only rules about the change count. */
function askNode(node: RuleNode, value: unknown, old: unknown, path: FieldPath, kept: boolean, asking: Asking): void {
  if (asking.ended || value === null || value === undefined) return
  askRules(node, value, old, path, kept, asking)
  if (Array.isArray(value)) askItems(node, value, old, path, kept, asking)
  else if (isJsonObject(value)) {
    const before = isJsonObject(old) ? old : {}
    const ask = (child: RuleNode, name: string, at: FieldPath): void => {
      const [each, was] = [member(value, name), member(before, name)]
      askNode(child, each, was, at, kept || (was !== undefined && isAsBefore(child.schema, each, was)), asking)
    }
    for (const [name, child] of node.fields) ask(child, name, path.field(name))
    if (node.values !== undefined) for (const key of Object.keys(value)) ask(node.values, key, path.key(key))
  }
}

/** Elements are found again by their keys, and only in map lists. */
function askItems(
  { schema, items }: RuleNode,
  value: readonly unknown[],
  old: unknown,
  path: FieldPath,
  kept: boolean,
  asking: Asking,
): void {
  if (items === undefined || schema.type !== 'list') return
  const keys = schema.mapKeys ?? []
  const before = schema.listType === 'map' && Array.isArray(old) ? byKey(old, keys) : undefined
  value.forEach((element, index) => {
    const was = before?.get(keyOf(element, keys))
    const isKept = kept || (was !== undefined && isAsBefore(items.schema, element, was))
    askNode(items, element, was, path.index(index), isKept, asking)
  })
}

function askRules(node: RuleNode, value: unknown, old: unknown, path: FieldPath, kept: boolean, asking: Asking): void {
  const { schema, rules } = node
  const binding = celBinding(schema)
  if (rules.length === 0 || binding === undefined) return
  const type = schema.checks?.types?.[0] ?? ''
  const fail = (detail: string): void => {
    asking.errors.push(invalidField(path, type, detail))
  }
  if (asking.left <= 0) {
    fail(outOfBudget)
    asking.ended = true
    return
  }
  let self: CelValue
  let oldSelf: CelValue | undefined
  try {
    self = binding.valueOf(value)
    oldSelf = old === undefined || old === null ? undefined : binding.valueOf(old)
  } catch (error) {
    // Such as a duration in words, which the format allows and expressions do not know.
    if (!(error instanceof CelError)) throw error
    fail(error.message)
    return
  }
  const place: Place = { path, value, old }
  // As upstream has it messages see what was before as it is, be it an optional for their rule, and only beside a rule that asks for it.
  const seenByMessages = new Map<string, CelValue>([['self', self]])
  const isBeforeAsked = rules.some((each) => 'program' in each && each.usesOldSelf)
  if (isBeforeAsked && oldSelf !== undefined) seenByMessages.set('oldSelf', oldSelf)
  for (const compiled of rules) {
    if ('problem' in compiled) {
      fail(`rule compile error: ${compiled.problem}`)
      continue
    }
    const { rule, program, usesOldSelf } = compiled
    // A rule about a change asks nothing where there was nothing before, unless it says that it can tell.
    if (usesOldSelf && oldSelf === undefined && rule.optionalOldSelf !== true) continue
    const variables = new Map<string, CelValue>([['self', self]])
    if (rule.optionalOldSelf === true)
      variables.set('oldSelf', oldSelf === undefined ? Optional.none : new Optional(undescribed(oldSelf, old)))
    else if (oldSelf !== undefined) variables.set('oldSelf', oldSelf)
    const outcome = runAt(place, program, variables)
    if (outcome.cost > asking.left) {
      fail(outOfBudget)
      asking.ended = true
      return
    }
    asking.left -= outcome.cost
    if ('error' in outcome) {
      const text = ruleText(rule)
      if (outcome.exceeded) {
        fail(
          `'${outcome.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`,
        )
        asking.ended = true
        return
      }
      const isOverload = outcome.error.startsWith('no such overload')
      const supported = 'call arguments did not match a supported operator, function or macro signature for rule'
      fail(isOverload ? `'${outcome.error}': ${supported}: ${text}` : `${outcome.error} evaluating rule: ${text}`)
      continue
    }
    if (outcome.value === true) continue
    const isTolerated = kept && !usesOldSelf
    const add = (error: FieldError): void => {
      asking.errors.push(isTolerated ? toleratedError(error) : error)
    }
    const at = pathOfError(compiled, path)
    const message = messageOf(compiled, place, seenByMessages, asking)
    if (message.ends) {
      add(invalidField(at, type, message.text))
      asking.ended = true
      return
    }
    // Lists and objects are not shown.
    const shown = type === 'object' || type === 'array' ? unshownValue : value
    add(ruleError(compiled.rule, shown, at, message.text))
  }
}

/** A value that expressions are asked about, and what it was before. */
interface Place {
  readonly path: FieldPath
  readonly value: unknown
  readonly old: unknown
}

const runAt = (
  { path, value, old }: Place,
  program: CelProgram,
  variables: ReadonlyMap<string, CelValue>,
): CelOutcome =>
  dear(
    program,
    () => `${old === undefined ? 'new' : 'changed'} ${path}`,
    value,
    () => program.run(variables, evaluationCostMax),
    ({ cost }) => cost,
  )

/** As upstream has it nothing is known any more of what is in a list or an object that an optional holds: texts of times are texts. */
const undescribed = (value: CelValue, json: unknown): CelValue =>
  value instanceof CelList || value instanceof CelMap || value instanceof CelObject ? celValueOf(json) : value

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

const ruleText = ({ rule, message = '' }: CelRule): string => (message === '' ? rule : message).trim()

/** What is said of a rule that does not hold; `ends`: instead of that, why no rule is asked any more. */
interface Said {
  readonly text: string
  readonly ends: boolean
}

function messageOf(
  { rule, message }: CompiledRule,
  place: Place,
  variables: ReadonlyMap<string, CelValue>,
  asking: Asking,
): Said {
  if (message !== undefined) {
    const outcome = runAt(place, message, variables)
    if (outcome.cost > asking.left) {
      const text =
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
      return { text, ends: true }
    }
    if ('error' in outcome && outcome.exceeded) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression'
      return { text: `${why}: ${JSON.stringify(rule.messageExpression)}`, ends: true }
    }
    asking.left -= outcome.cost
    const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : ''
    if (text !== '' && Buffer.byteLength(text) <= messageLengthMax && !text.includes('\n')) return { text, ends: false }
  }
  const text =
    rule.message === undefined || rule.message === '' ? `failed rule: ${ruleText(rule)}` : rule.message.trim()
  return { text, ends: false }
}

const pathOfError = ({ fieldPath = [] }: CompiledRule, path: FieldPath): FieldPath =>
  fieldPath.reduce((below, { name, isKey }) => (isKey ? below.key(name) : below.field(name)), path)

function ruleError(rule: CelRule, shown: unknown, at: FieldPath, detail: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbiddenField(at, detail)
    case 'FieldValueRequired':
      return requiredField(at, detail)
    case 'FieldValueDuplicate':
      return duplicateField(at, shown)
    default:
      return invalidField(at, shown, detail)
  }
}
