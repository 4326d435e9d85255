import { parseDocument, type Tags } from 'yaml'
import { asGoReads } from './as-go-reads.ts'
import { goTags } from './go-tags.ts'

/** More uses of anchors than these, and a short text could stand for a huge value. */
const aliasesMax = 100

/** What a text of one document says, as Go programs read it; JSON is YAML. Throws where it is none. */
export function parseGoYaml(text: string): unknown {
  const document = parseDocument(text, {
    prettyErrors: false,
    // The library compares each key with all before it.
    uniqueKeys: false,
    version: '1.1',
    customTags: (tags: Tags) => goTags(tags),
  })
  const [error] = document.errors
  if (error !== undefined) throw error
  asGoReads(document)
  return document.toJS({ maxAliasCount: aliasesMax })
}
