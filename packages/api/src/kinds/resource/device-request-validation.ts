/** What is wrong with what a claim asks for, in the words of upstream's `pkg/apis/resource/validation`. */
import { expressionError } from '../../cel/expression-error.ts'
import { compileDeviceSelector } from '../../devices/device-selector.ts'
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { isJsonObject } from '../../json.ts'
import { utf8Bytes } from '../core/data-size.ts'
import { checkText, checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { checkDriverName, checkFullyQualifiedName, checkLabel } from './device-names.ts'
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ExactDeviceRequest,
  OpaqueDeviceConfiguration,
} from './device-request-schema.ts'
import {
  deviceConfigMax,
  deviceConstraintsMax,
  deviceRequestsMax,
  deviceSelectorsMax,
  firstAvailableMax,
  opaqueParametersBytesMax,
  selectorBytesMax,
  selectorCostMax,
  tolerationsMax,
} from './limits.ts'
import { checkDistinctItems, checkItems } from './lists.ts'

/** The requests of a claim by name, with the names of the ways to meet each. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

/** The names by which the requests of a claim may be referred to. */
export function requestNamesOf({ requests = [] }: DeviceClaim): RequestNames {
  return new Map(
    requests.map(({ name, firstAvailable = [] }) => [name, new Set(firstAvailable.map((each) => each.name))]),
  )
}

/** What is wrong with a new claim. Stored ones do not change. */
export function checkDeviceClaim(claim: DeviceClaim, path: FieldPath): readonly FieldError[] {
  const { requests = [], constraints = [], config = [] } = claim
  const names = requestNamesOf(claim)
  return [
    ...checkDistinctItems(requests, deviceRequestsMax, path.field('requests'), ({ name }) => name, checkRequest),
    ...checkItems(constraints, deviceConstraintsMax, path.field('constraints'), (each, at) =>
      checkConstraint(each, at, names),
    ),
    ...checkItems(config, deviceConfigMax, path.field('config'), (each, at) => [
      ...checkRequestNames(each.requests, at.field('requests'), names),
      ...checkDeviceConfiguration(each, at),
    ]),
  ]
}

const oneOf = 'exactly one of `exactly` or `firstAvailable` is required'

function checkRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, path: FieldPath): readonly FieldError[] {
  const errors = checkLabel(name, path.field('name'))
  if (exactly !== undefined && firstAvailable.length > 0) {
    return [...errors, invalidField(path, undefined, `${oneOf}, but multiple fields are set`)]
  }
  if (exactly !== undefined) return [...errors, ...checkAsked(exactly, path.field('exactly'))]
  if (firstAvailable.length === 0) return [...errors, requiredField(path, oneOf)]
  const choices = path.field('firstAvailable')
  return [
    ...errors,
    ...checkDistinctItems(
      firstAvailable,
      firstAvailableMax,
      choices,
      (each) => each.name,
      (each, at) => [...checkLabel(each.name, at.field('name')), ...checkAsked(each, at)],
    ),
  ]
}

type Asked = Omit<ExactDeviceRequest, 'adminAccess'>

function checkAsked(asked: Asked, path: FieldPath): readonly FieldError[] {
  const { deviceClassName: name, selectors = [], tolerations = [] } = asked
  return [
    ...checkText('dns1123-subdomain', name, path.field('deviceClassName')),
    ...checkSelectors(selectors, path.field('selectors')),
    ...checkAllocationMode(asked, path),
    ...checkItems(tolerations, tolerationsMax, path.field('tolerations'), checkToleration),
  ]
}

const allocationModes = ['All', 'ExactCount']

function checkAllocationMode({ allocationMode: mode, count = 0 }: Asked, path: FieldPath): readonly FieldError[] {
  switch (mode) {
    case 'All':
      if (count === 0) return []
      return [invalidField(path.field('count'), count, "must not be specified when allocationMode is 'All'")]
    case 'ExactCount':
      return count > 0 ? [] : [invalidField(path.field('count'), count, 'must be greater than zero')]
    default:
      return [unsupportedField(path.field('allocationMode'), mode ?? '', allocationModes)]
  }
}

/** What is wrong with selectors. Of `stored` ones only what a change could have broken. */
export function checkSelectors(
  selectors: readonly DeviceSelector[],
  path: FieldPath,
  stored = false,
): readonly FieldError[] {
  return checkItems(selectors, deviceSelectorsMax, path, ({ cel }, at) => {
    if (cel === undefined) return [requiredField(at.field('cel'))]
    return stored ? [] : checkExpression(cel.expression, at.field('cel').field('expression'))
  })
}

function checkExpression(expression: string, path: FieldPath): readonly FieldError[] {
  if (utf8Bytes(expression) > selectorBytesMax) return [tooLongField(path, selectorBytesMax)]
  const compiled = compileDeviceSelector(expression)
  if ('problem' in compiled) return [expressionError(path, expression, compiled)]
  return compiled.selector.costMax > selectorCostMax ? [forbiddenField(path, 'too complex, exceeds cost limit')] : []
}

const taintEffects = ['NoExecute', 'NoSchedule', 'None']

/** What is wrong with a toleration of a request, or of a result that repeats it. */
export function checkToleration(toleration: DeviceToleration, path: FieldPath): readonly FieldError[] {
  const { key = '', operator, value = '', effect } = toleration
  return [
    ...(key === '' ? [] : checkTextOrEmpty('qualified-name', key, path.field('key'))),
    ...checkOperator(operator, value, path),
    ...(effect === undefined || taintEffects.includes(effect)
      ? []
      : [unsupportedField(path.field('effect'), effect, taintEffects)]),
  ]
}

function checkOperator(operator: string | undefined, value: string, path: FieldPath): readonly FieldError[] {
  switch (operator) {
    case 'Exists':
      return value === '' ? [] : [invalidField(path.field('value'), value, 'must be empty for operator `Exists`')]
    case 'Equal':
      return checkTextOrEmpty('label-value', value, path.field('value'))
    case undefined:
      return [requiredField(path.field('operator'))]
    default:
      return [unsupportedField(path.field('operator'), operator, ['Equal', 'Exists'])]
  }
}

function checkConstraint(constraint: DeviceConstraint, path: FieldPath, names: RequestNames): readonly FieldError[] {
  const { matchAttribute, distinctAttribute } = constraint
  return [
    ...checkRequestNames(constraint.requests, path.field('requests'), names),
    ...checkConstraintType(matchAttribute, distinctAttribute, path),
  ]
}

function checkConstraintType(
  match: string | undefined,
  distinct: string | undefined,
  path: FieldPath,
): readonly FieldError[] {
  if (match !== undefined) return checkFullyQualifiedName(match, path.field('matchAttribute'))
  if (distinct !== undefined) return checkFullyQualifiedName(distinct, path.field('distinctAttribute'))
  // Upstream has these words for none as well as for both.
  const why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
  return [requiredField(path, why)]
}

/** What is wrong with names of requests, each of which must be one of the claim's. */
export function checkRequestNames(
  requests: readonly string[] | undefined,
  path: FieldPath,
  names: RequestNames,
): readonly FieldError[] {
  return checkDistinctItems(requests ?? [], deviceRequestsMax, path, String, (name, at) =>
    checkRequestName(name, at, names),
  )
}

const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** `request` or `request/way`. */
export function checkRequestName(name: string, path: FieldPath, names: RequestNames): readonly FieldError[] {
  const parts = name.split('/')
  const [request = '', way] = parts
  if (parts.length > 2) return [invalidField(path, name, unknownRequest)]
  const ways = names.get(request)
  const isKnown = ways !== undefined && (way === undefined || ways.has(way))
  return [
    ...parts.flatMap((part) => checkLabel(part, path)),
    ...(isKnown ? [] : [invalidField(path, name, unknownRequest)]),
  ]
}

/** What is wrong with parameters for a driver. How long `stored` ones are no longer matters. */
export function checkDeviceConfiguration(
  { opaque }: { readonly opaque?: OpaqueDeviceConfiguration | undefined },
  path: FieldPath,
  stored = false,
): readonly FieldError[] {
  if (opaque === undefined) return [requiredField(path.field('opaque'))]
  return [
    ...checkDriverName(opaque.driver, path.field('opaque').field('driver')),
    ...checkRawObject(
      opaque.parameters,
      stored ? Number.POSITIVE_INFINITY : opaqueParametersBytesMax,
      path.field('opaque').field('parameters'),
    ),
  ]
}

/** What is wrong with an object that only a driver understands: it must be there, and not too long. */
export function checkRawObject(
  value: Readonly<Record<string, unknown>> | undefined,
  bytesMax: number,
  path: FieldPath,
): readonly FieldError[] {
  if (value === undefined || value === null) return [requiredField(path)]
  if (utf8Bytes(JSON.stringify(value)) > bytesMax) return [tooLongField(path, bytesMax)]
  // Decoding leaves whatever there is.
  return isJsonObject(value) ? [] : [invalidField(path, '<value omitted>', 'must be a valid JSON object')]
}
