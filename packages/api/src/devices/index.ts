/** Which devices selectors select. Its own entry point: the engine for expressions loads with the first selector. */
export {
  compileDeviceSelector,
  type DeviceSelectorProgram,
  type SelectorOutcome,
  selectorVariables,
} from './device-selector.ts'
