/** What servers say of themselves, as schemas: few clients ask for it in protobuf, so nobody else loads it. */
export * from './aggregated.ts'
export * from './legacy.ts'
