import { watchFallbacks } from '../support/fallback-watch.ts';

watchFallbacks();
