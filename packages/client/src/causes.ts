import {
  type Cause,
  type CauseLink,
  type CauseList,
  causesGroup,
  causesPlural,
  causesVersion,
  chainLinksMax,
  chainOf,
  hasReason,
  seenBefore,
} from '@coracle/api'
import { type Query, withQuery } from './resource-path.ts'

/** Where causes are read from: a client over HTTP. */
export interface CauseSource {
  rawGet(path: string): Promise<string>
}

/** What of the causal record is asked for: what all that is given holds for. */
export interface CauseSelection {
  readonly group?: string
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
}

const path = `/apis/${causesGroup}/${causesVersion}/${causesPlural}`

/** Most revisions the server takes in one question. */
const revisionsAskedMax = 100

/**
 * The causes of what is selected, newest first, at most `limit`. Undefined where the server keeps no such record. The server may look
 * through its record in several answers.
 */
export async function readCauses(
  source: CauseSource,
  selection: CauseSelection,
  limit: number,
): Promise<readonly Cause[] | undefined> {
  const causes: Cause[] = []
  let next: string | undefined
  do {
    const page = await readPage(source, { ...selection, limit: limit - causes.length, continue: next })
    if (page === undefined) return undefined
    causes.push(...page.items)
    next = page.metadata.continue
  } while (next !== undefined && causes.length < limit)
  return causes
}

/** The chain of causes that leads to a revision, latest first: see `chainOf`. */
export async function readChain(source: CauseSource, revision: number): Promise<readonly CauseLink[]> {
  const known = new Map<number, Cause>()
  let wanted: readonly number[] = [revision]
  while (wanted.length > 0 && known.size < chainLinksMax) {
    const asked = wanted.slice(0, revisionsAskedMax)
    const { items = [] } = (await readPage(source, { revision: asked.join(',') })) ?? {}
    for (const cause of items) known.set(cause.revision, cause)
    const seen = new Set([...wanted.slice(revisionsAskedMax), ...items.flatMap(seenBefore)])
    wanted = [...seen].filter((each) => !known.has(each) && !asked.includes(each))
  }
  return chainOf((each) => known.get(each), revision)
}

async function readPage(source: CauseSource, query: Query): Promise<CauseList | undefined> {
  try {
    return JSON.parse(await source.rawGet(withQuery(path, query))) as CauseList
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
