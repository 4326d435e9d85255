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
import { withQuery } from './resource-path.ts'

/** Where causes are read: a cluster in this process, or a server over HTTP (`httpCauses`). */
export interface CauseSource {
  /** A page of the causal record, newest first. Undefined where the server keeps none. */
  causes(query: CauseQuery): Promise<CausePage | undefined>
}

/** What of the causal record is asked for: what all that is given holds for. */
export interface CauseSelection {
  readonly group?: string
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  /** Only causes of later revisions. */
  readonly after?: number
}

export interface CauseQuery extends CauseSelection {
  /** Only causes of these revisions. */
  readonly revisions?: readonly number[]
  /** Only causes of earlier revisions. */
  readonly before?: number
  readonly limit?: number
}

export interface CausePage {
  /** Newest first. */
  readonly causes: readonly Cause[]
  /** Where there may be more: only before this revision. */
  readonly before?: number
}

const path = `/apis/${causesGroup}/${causesVersion}/${causesPlural}`

/** The causal record of a server, as its API shows it. */
export const httpCauses = (client: { rawGet(path: string): Promise<string> }): CauseSource => ({
  async causes({ revisions, before, ...query }) {
    const asked = { ...query, revision: revisions?.join(','), continue: before }
    const text = await client.rawGet(withQuery(path, asked)).catch((error: unknown) => {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    })
    if (text === undefined) return undefined
    const { items, metadata } = JSON.parse(text) as CauseList
    return metadata.continue === undefined ? { causes: items } : { causes: items, before: Number(metadata.continue) }
  },
})

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
  const found: Cause[] = []
  let before: number | undefined
  do {
    const from = before === undefined ? {} : { before }
    const page = await source.causes({ ...selection, limit: limit - found.length, ...from })
    if (page === undefined) return undefined
    found.push(...page.causes)
    before = page.before
  } while (before !== undefined && found.length < limit)
  return found
}

/** The chain of causes that leads to a revision, latest first: see `chainOf`. */
export async function readChain(source: CauseSource, revision: number): Promise<readonly CauseLink[]> {
  const known = new Map<number, Cause>()
  let wanted: readonly number[] = [revision]
  while (wanted.length > 0 && known.size < chainLinksMax) {
    const asked = wanted.slice(0, revisionsAskedMax)
    const { causes = [] } = (await source.causes({ revisions: asked })) ?? {}
    for (const cause of causes) known.set(cause.revision, cause)
    const seen = new Set([...wanted.slice(revisionsAskedMax), ...causes.flatMap(seenBefore)])
    wanted = [...seen].filter((each) => !known.has(each) && !asked.includes(each))
  }
  return chainOf((each) => known.get(each), revision)
}
