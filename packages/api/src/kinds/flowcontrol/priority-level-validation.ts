import { deepEqual } from '../../equality.ts'
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { structValue } from '../../internal-structs/struct-value.ts'
import { rangeMessage } from '../../string-formats.ts'
import { checkFlowConditions } from './condition-checks.ts'
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from './priority-level-schema.ts'
import { exemptName, mandatoryPriorityLevels } from './required-objects.ts'

/** Kept of an older version, in which a share of zero could not be told from none. */
const preservedSharesAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'
const queuesMax = 10_000_000
/** As many bits of a hash there are to deal a hand of queues by (shufflesharding.MaxHashBits). */
const entropyBitsMax = 60
const specPath = FieldPath.of('spec')

/** pkg/apis/flowcontrol/validation ValidatePriorityLevelConfiguration. */
export function validatePriorityLevel(level: PriorityLevelConfiguration): readonly FieldError[] {
  const { metadata, spec = { type: '' } } = level
  const isPreserving = metadata.annotations?.[preservedSharesAnnotation] !== undefined
  const annotations = FieldPath.of('metadata', 'annotations')
  return [
    ...(isPreserving ? [forbiddenField(annotations, `annotation '${preservedSharesAnnotation}' is forbidden`)] : []),
    ...checkSpec(spec, metadata.name ?? ''),
    ...checkFixed(spec, metadata.name ?? ''),
    ...validatePriorityLevelStatus(level),
  ]
}

/** What is wrong with the status alone. */
export const validatePriorityLevelStatus = ({ status }: PriorityLevelConfiguration): readonly FieldError[] =>
  checkFlowConditions(status?.conditions, FieldPath.of('status', 'conditions'))

/** Of the levels that every cluster has only what is set aside for the exempt one may be chosen. */
function checkFixed(spec: PriorityLevelConfigurationSpec, name: string): readonly FieldError[] {
  const fixed = mandatoryPriorityLevels.find(({ metadata }) => metadata.name === name)?.spec
  if (fixed === undefined) return []
  if (name !== exemptName)
    return deepEqual(spec, fixed)
      ? []
      : [
          invalidField(
            specPath,
            structValue('flowcontrol.PriorityLevelConfigurationSpec', spec),
            `spec of '${name}' must equal the fixed value`,
          ),
        ]
  if (deepEqual({ ...spec, exempt: fixed.exempt }, fixed)) return []
  return [
    invalidField(
      specPath,
      structValue('flowcontrol.PriorityLevelConfigurationSpec', spec),
      `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`,
    ),
  ]
}

function checkSpec(spec: PriorityLevelConfigurationSpec, name: string): readonly FieldError[] {
  const { type, limited, exempt } = spec
  const typePath = specPath.field('type')
  const isMixedUp = (name === exemptName) !== (type === 'Exempt')
  const mixedUp = isMixedUp ? [invalidField(typePath, type, "must be 'Exempt' if and only if `name` is 'exempt'")] : []
  if (type === 'Exempt') {
    return [
      ...mixedUp,
      ...(limited === undefined
        ? []
        : [forbiddenField(specPath.field('limited'), 'must be nil if the type is not Limited')]),
      ...checkShares(exempt?.nominalConcurrencyShares, specPath.field('exempt')),
      ...checkPercent(exempt?.lendablePercent, specPath.field('exempt')),
    ]
  }
  if (type !== 'Limited') return [...mixedUp, unsupportedField(typePath, type, ['Exempt', 'Limited'])]
  return [
    ...mixedUp,
    ...(exempt === undefined ? [] : [forbiddenField(specPath.field('exempt'), 'must be nil if the type is Limited')]),
    ...(limited === undefined
      ? [requiredField(specPath.field('limited'), 'must not be empty when type is Limited')]
      : checkLimited(limited, specPath.field('limited'))),
  ]
}

function checkLimited(limited: LimitedPriorityLevelConfiguration, path: FieldPath): readonly FieldError[] {
  const { nominalConcurrencyShares, limitResponse, lendablePercent, borrowingLimitPercent: borrowing = 0 } = limited
  const why = 'if specified, must be a non-negative integer'
  return [
    ...checkShares(nominalConcurrencyShares, path),
    ...checkLimitResponse(limitResponse ?? { type: '' }, path.field('limitResponse')),
    ...checkPercent(lendablePercent, path),
    ...(borrowing < 0 ? [invalidField(path.field('borrowingLimitPercent'), borrowing, why)] : []),
  ]
}

function checkShares(shares = 0, path: FieldPath): readonly FieldError[] {
  const why = 'must be a non-negative integer'
  return shares < 0 ? [invalidField(path.field('nominalConcurrencyShares'), shares, why)] : []
}

function checkPercent(percent = 0, path: FieldPath): readonly FieldError[] {
  if (percent >= 0 && percent <= 100) return []
  return [invalidField(path.field('lendablePercent'), percent, rangeMessage(0, 100))]
}

function checkLimitResponse({ type, queuing }: LimitResponse, path: FieldPath): readonly FieldError[] {
  const at = path.field('queuing')
  if (type === 'Reject') {
    const why = 'must be nil if limited.limitResponse.type is not Limited'
    return queuing === undefined ? [] : [forbiddenField(at, why)]
  }
  if (type !== 'Queue') return [unsupportedField(path.field('type'), type, ['Queue', 'Reject'])]
  const why = 'must not be empty if limited.limitResponse.type is Limited'
  return queuing === undefined ? [requiredField(at, why)] : checkQueuing(queuing, at)
}

function checkQueuing(queuing: QueuingConfiguration, path: FieldPath): readonly FieldError[] {
  const { queues, handSize, queueLengthLimit } = queuing
  const tooManyQueues = queues > queuesMax ? `must not be greater than ${queuesMax}` : undefined
  const aboutQueues = queues <= 0 ? 'must be positive' : tooManyQueues
  const aboutHand = problemOfHand(queues, handSize)
  return [
    ...(queueLengthLimit <= 0
      ? [invalidField(path.field('queueLengthLimit'), queueLengthLimit, 'must be positive')]
      : []),
    ...(aboutQueues === undefined ? [] : [invalidField(path.field('queues'), queues, aboutQueues)]),
    ...(aboutHand === undefined ? [] : [invalidField(path.field('handSize'), handSize, aboutHand)]),
  ]
}

function problemOfHand(queues: number, handSize: number): string | undefined {
  if (handSize <= 0) return 'must be positive'
  if (handSize > queues) return `should not be greater than queues (${queues})`
  const bits = requiredEntropyBits(queues, handSize)
  if (bits <= entropyBitsMax) return undefined
  return `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${entropyBitsMax}`
}

/** How many bits it takes to deal any hand (shufflesharding.RequiredEntropyBits). */
const requiredEntropyBits = (deckSize: number, handSize: number): number => Math.ceil(Math.log2(deckSize) * handSize)
