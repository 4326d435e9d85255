import { ownValue } from '../../../own-value.ts'
import { createdAtColumn, nameColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { type ResourceList, wholeMillis } from '../common.ts'
import { limitChecks } from '../limit-checks.ts'
import { type LimitRange, type LimitRangeItem, limitRangeSchema } from './schema.ts'

/** `v1` limitranges. */
export const limitRanges = kind<LimitRange>(limitRangeSchema, {
  plural: 'limitranges',
  shortNames: ['limits'],
  columns: [nameColumn, createdAtColumn],
  rules: { createsOnUpdate: true, namesNameless: true },
  defaults: withDefaults,
  load: limitChecks.load,
  validate: (range) => limitChecks.get().validateLimitRange(range),
})

function withDefaults(range: LimitRange): LimitRange {
  const limits = range.spec?.limits ?? []
  const filled = limits.map(itemDefaults)
  return filled.every((each, index) => each === limits[index]) ? range : { ...range, spec: { limits: filled } }
}

/** Containers may have what is allowed at most where nothing is said, and ask for as much (SetDefaults_LimitRangeItem). */
function itemDefaults(item: LimitRangeItem): LimitRangeItem {
  const [max, min, ratio] = [wholeMillis(item.max), wholeMillis(item.min), wholeMillis(item.maxLimitRequestRatio)]
  const isContainer = item.type === 'Container'
  const limit = isContainer ? merged(max, wholeMillis(item.default)) : wholeMillis(item.default)
  const request = isContainer
    ? merged(min, merged(limit, wholeMillis(item.defaultRequest)))
    : wholeMillis(item.defaultRequest)
  const filled = { max, min, default: limit, defaultRequest: request, maxLimitRequestRatio: ratio }
  const changed = Object.entries(filled).filter(([name, list]) => list !== item[name as keyof typeof filled])
  return changed.length === 0 ? item : { ...item, ...Object.fromEntries(changed) }
}

/** `first`, with what `other` says in its place; `other` itself where it says all. */
function merged(first: ResourceList | undefined, other: ResourceList | undefined): ResourceList | undefined {
  const isComplete = Object.keys(first ?? {}).every((name) => ownValue(other, name) !== undefined)
  return isComplete ? other : { ...first, ...other }
}
