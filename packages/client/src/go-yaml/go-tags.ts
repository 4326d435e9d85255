import type { ScalarTag, Tags } from 'yaml'
import { withGoNumbers } from './go-numbers.ts'

/**
 * Tags of YAML 1.1 as Go reads them: numbers as it does, but neither times nor numbers to the base of 60, and no sets and ordered maps. What
 * is marked as binary is decoded.
 */
export const goTags = (tags: Tags): Tags => [
  ...withGoNumbers(tags).filter((tag) => typeof tag === 'string' || !isForeign(tag)),
  binary,
]

const isForeign = (tag: { readonly tag: string; readonly format?: string | undefined }): boolean =>
  /:(timestamp|binary|omap|pairs|set)$/.test(tag.tag) || tag.format === 'TIME'

const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  default: false,
  resolve: (text, onError) => {
    const base64 = text.replaceAll(/[\r\n]/g, '')
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.toString('base64') === base64) return bytes.toString()
    onError('!!binary value contains invalid base64 data')
    return text
  },
}
