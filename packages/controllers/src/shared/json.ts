/** Readers of foreign JSON: those of the API package. */
export {
  asInteger,
  asList,
  asRecord,
  asRecords,
  asText,
  asTextMap,
  asTexts,
  isRecord,
  type JsonRecord,
  parseCount,
  sameJson,
} from '@omenative/api';
