import { addDialect } from '../compile.ts'
import { structuralDecoderOf } from './decode.ts'
import { structuralDefaulterOf } from './defaults.ts'
import { structuralValidatorOf } from './validate.ts'

/** Lets schemas of custom kinds be compiled. Clusters without custom kinds do not load what interprets them. */
export function addStructuralDialect(): void {
  addDialect('structural', {
    decoderOf: structuralDecoderOf,
    defaulterOf: structuralDefaulterOf,
    validatorOf: structuralValidatorOf,
  })
}
