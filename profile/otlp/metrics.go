// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package otlp

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Metric is a number that a program reports about itself.
type Metric struct {
	Name, Unit, Description string

	Value float64
	Sum   bool // counted since the start, else the value at the moment
}

// MetricsMessage returns metrics as a message, an ExportMetricsServiceRequest. Resource describes
// the program, and start is when it began to count.
func MetricsMessage(resource []Attribute, start, now time.Time, list []Metric) ([]byte, error) {
	out := pmetric.NewMetrics()
	r := out.ResourceMetrics().AppendEmpty()
	for _, a := range resource {
		if err := setValue(r.Resource().Attributes().PutEmpty(a.Key), a.Key, a.Value); err != nil {
			return nil, err
		}
	}
	scope := r.ScopeMetrics().AppendEmpty()
	scope.Scope().SetName(Scope)
	for _, m := range list {
		metric := scope.Metrics().AppendEmpty()
		metric.SetName(m.Name)
		metric.SetUnit(m.Unit)
		metric.SetDescription(m.Description)
		var point pmetric.NumberDataPoint
		if m.Sum {
			sum := metric.SetEmptySum()
			sum.SetIsMonotonic(true)
			sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
			point = sum.DataPoints().AppendEmpty()
			point.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
		} else {
			point = metric.SetEmptyGauge().DataPoints().AppendEmpty()
		}
		point.SetTimestamp(pcommon.NewTimestampFromTime(now))
		point.SetDoubleValue(m.Value)
	}
	return new(pmetric.ProtoMarshaler).MarshalMetrics(out)
}
