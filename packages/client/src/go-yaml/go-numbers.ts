import { exactInteger } from '@coracle/api/exact-json'
import type { ScalarTag, Tags } from 'yaml'

/** What Go takes for a text and this library for a number: without a digit before an exponent, and a lone point. */
const noNumber = '(?![-+]?\\.?(?:[eE]|$))'

/** Tags of YAML 1.1 as Go reads them: `e8`, which a commit may be called, is a text, and letters that name the base of a number may be large. */
export const withGoNumbers = (tags: Tags): Tags =>
  tags.flatMap((tag): Tags => {
    if (typeof tag !== 'object' || !('test' in tag)) return [tag]
    const scalar = tag as ScalarTag
    const { test, format, resolve } = scalar
    const source = test?.source ?? ''
    if (tag.tag === 'tag:yaml.org,2002:float') {
      return [{ ...scalar, test: new RegExp(source.replace('^', `^${noNumber}`)) }]
    }
    if (format === 'HEX' || format === 'BIN') return [{ ...scalar, test: new RegExp(source, 'i') }]
    if (format !== 'OCT') return [tag]
    // Octal numbers of today, beside those of old.
    const octal: ScalarTag = {
      ...scalar,
      test: /^[-+]?0o[0-7_]+$/i,
      resolve: (text, ...more) => resolve(text.replace(/o/i, ''), ...more),
    }
    return [octal, tag]
  })

/** Tags that read whole numbers as they are written, as `parseExactJson` does. */
export const withExactIntegers = (tags: Tags): Tags =>
  tags.map((tag) => {
    if (typeof tag !== 'object' || tag.tag !== 'tag:yaml.org,2002:int') return tag
    const scalar = tag as ScalarTag
    const resolve: ScalarTag['resolve'] = (text, onError, options) => {
      const value = scalar.resolve(text, onError, { ...options, intAsBigInt: true })
      return typeof value === 'bigint' ? exactInteger(value) : value
    }
    return { ...scalar, resolve }
  })
