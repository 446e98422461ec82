/// Messages of `rules.v1` as JSON, each followed by its violations as protovalidate reports them; those of
/// `Older` have rules of protoc-gen-validate.
enum RuleCases {
  static let text = #"""
    Numbers {}
    Numbers {"int32Range":3,"int64Range":"10","uint32Range":3,"uint64Range":"10","sint32Range":3,"sint64Range":"10","fixed32Range":3,"fixed64Range":"10","sfixed32Range":3,"sfixed64Range":"10"}
      int32_range: must be greater than 3 and less than or equal to 9 [int32.gt_lte]
      int64_range: must be greater than 3 and less than or equal to 9 [int64.gt_lte]
      uint32_range: must be greater than 3 and less than or equal to 9 [uint32.gt_lte]
      uint64_range: must be greater than 3 and less than or equal to 9 [uint64.gt_lte]
      sint32_range: must be greater than 3 and less than or equal to 9 [sint32.gt_lte]
      sint64_range: must be greater than 3 and less than or equal to 9 [sint64.gt_lte]
      fixed32_range: must be greater than 3 and less than or equal to 9 [fixed32.gt_lte]
      fixed64_range: must be greater than 3 and less than or equal to 9 [fixed64.gt_lte]
      sfixed32_range: must be greater than 3 and less than or equal to 9 [sfixed32.gt_lte]
      sfixed64_range: must be greater than 3 and less than or equal to 9 [sfixed64.gt_lte]
    Numbers {"int32Range":4,"int64Range":"9","uint32Range":4,"uint64Range":"9","sint32Range":4,"sint64Range":"9","fixed32Range":4,"fixed64Range":"9","sfixed32Range":4,"sfixed64Range":"9"}
    Numbers {"floatRange":0.05,"floatOutside":0,"floatFinite":"Infinity","floatList":2,"floatConst":1,"floatUpper":1e31}
      float_range: must be greater than or equal to 0.10000000149011612 and less than 2.5 [float.gte_lt]
      float_outside: must be greater than or equal to 1000000020040877300000 or less than or equal to -0.00000010000000116860974 [float.gte_lte_exclusive]
      float_finite: must be finite [float.finite]
      float_list: must not be in list [2] [float.not_in]
      float_const: must equal 1.5 [float.const]
      float_upper: must be less than 1000000015047466200000000000000 [float.lt]
    Numbers {"floatRange":0.1,"floatOutside":-1e-6,"floatFinite":1,"floatList":0.1,"floatConst":1.5,"floatUpper":1}
    Numbers {"floatRange":"NaN","floatOutside":"NaN","floatFinite":"NaN","floatList":"NaN","floatConst":"NaN","floatUpper":"NaN"}
      float_range: must be greater than or equal to 0.10000000149011612 and less than 2.5 [float.gte_lt]
      float_outside: must be greater than or equal to 1000000020040877300000 or less than or equal to -0.00000010000000116860974 [float.gte_lte_exclusive]
      float_finite: must be finite [float.finite]
      float_list: must be in list [0.10000000149011612, 2, 100000002004087730000] [float.in]
      float_const: must equal 1.5 [float.const]
      float_upper: must be less than 1000000015047466200000000000000 [float.lt]
    Numbers {"doubleRange":2.5,"doubleOutside":1,"doubleFinite":"-Infinity","doubleList":3,"doubleConst":1,"doubleUpper":"Infinity"}
      double_range: must be greater than or equal to 0.1 and less than 2.5 [double.gte_lt]
      double_outside: must be greater than or equal to 1000000000000000000000 or less than or equal to -0.0000001 [double.gte_lte_exclusive]
      double_finite: must be finite [double.finite]
      double_list: must be in list [0.1, 2, 100000000000000000000] [double.in]
      double_const: must equal 1.5 [double.const]
      double_upper: must be less than 1000000000000000000000000000000 [double.lt]
    Numbers {"doubleRange":0.1,"doubleOutside":1e21,"doubleFinite":-0.0,"doubleList":1e20,"doubleConst":1.5,"doubleUpper":"-Infinity"}
    Numbers {"doubleRange":"NaN","doubleOutside":"NaN","doubleFinite":"NaN","doubleList":"NaN","doubleConst":"NaN","doubleUpper":"NaN"}
      double_range: must be greater than or equal to 0.1 and less than 2.5 [double.gte_lt]
      double_outside: must be greater than or equal to 1000000000000000000000 or less than or equal to -0.0000001 [double.gte_lte_exclusive]
      double_finite: must be finite [double.finite]
      double_list: must be in list [0.1, 2, 100000000000000000000] [double.in]
      double_const: must equal 1.5 [double.const]
      double_upper: must be less than 1000000000000000000000000000000 [double.lt]
    Numbers {"int32Lt":-5,"int32Lte":6,"int32Gt":5,"int32Gte":4,"int32Outside":0,"int32OutsideOrEqual":5,"int32Between":10,"int32EqualBounds":5,"int32List":3}
      int32_lt: must be less than -5 [int32.lt]
      int32_lte: must be less than or equal to 5 [int32.lte]
      int32_gt: must be greater than 5 [int32.gt]
      int32_gte: must be greater than or equal to 5 [int32.gte]
      int32_outside: must be greater than 10 or less than 0 [int32.gt_lt_exclusive]
      int32_outside_or_equal: must be greater than or equal to 10 or less than or equal to 0 [int32.gte_lte_exclusive]
      int32_between: must be greater than 0 and less than 10 [int32.gt_lt]
      int32_equal_bounds: must be greater than or equal to 4 and less than or equal to 4 [int32.gte_lte]
      int32_list: must equal 1 [int32.const]
      int32_list: must be in list [1, 2] [int32.in]
      int32_list: must not be in list [2, 3] [int32.not_in]
    Numbers {"int32Lt":-6,"int32Lte":5,"int32Gt":6,"int32Gte":5,"int32Outside":11,"int32OutsideOrEqual":10,"int32Between":9,"int32EqualBounds":4,"int32List":1}
    Numbers {"sint64List":"0","uint64Upper":"18446744073709551615","boolConst":false,"color":3,"colorConst":"COLOR_BLUE","int32Implicit":-1}
      sint64_list: must be in list [-1, 9223372036854775807] [sint64.in]
      uint64_upper: must be less than 18446744073709551615 [uint64.lt]
      bool_const: must equal true [bool.const]
      color: value must be one of the defined enum values [enum.defined_only]
      color_const: must equal 1 [enum.const]
      color_const: must be in list [1, 3] [enum.in]
      int32_implicit: must be greater than or equal to 0 [int32.gte]
    Numbers {"sint64List":"9223372036854775807","uint64Upper":"0","boolConst":true,"color":1,"colorConst":1}
    Numbers {"color":"COLOR_BLUE"}
      color: must not be in list [2] [enum.not_in]
    Strings {"const":"e","len":"éé","lens":"a","lenBytes":"éé€","bytesBetween":"a","pattern":"a٣","patternInside":"x1a","parts":"--","list":"c","implicit":"abc"}
      const: must equal `é` [string.const]
      len: must be 3 characters [string.len]
      lens: must be at least 2 characters [string.min_len]
      len_bytes: must be 4 bytes [string.len_bytes]
      bytes_between: must be at least 2 bytes [string.min_bytes]
      pattern: does not match regex pattern `^[a-z\d]+$` [string.pattern]
      pattern_inside: does not match regex pattern `(?i)x[[:digit:]]\b` [string.pattern]
      parts: does not have prefix `ab` [string.prefix]
      parts: does not have suffix `yz` [string.suffix]
      parts: contains substring `--` [string.not_contains]
      list: must be in list [a, b] [string.in]
      implicit: must be at most 2 characters [string.max_len]
    Strings {"const":"é","len":"é😀a","lens":"éééé","lenBytes":"éé","bytesBetween":"éé","pattern":"a3","patternInside":" X1 ","parts":"ab-yz","list":"a"}
    Strings {"lens":"abcde","bytesBetween":"ééé","list":"b"}
      lens: must be at most 4 characters [string.max_len]
      bytes_between: must be at most 4 bytes [string.max_bytes]
      list: must not be in list [b] [string.not_in]
    Binary {"const":"YQ==","len":"YQ==","lens":"YQ==","pattern":"Yg==","parts":"YQ==","list":"Yw==","ip":"YQ==","ipv4":"","ipv6":"AAAAAA==","uuid":""}
      const: must be 6162ff [bytes.const]
      len: must be 3 bytes [bytes.len]
      lens: must be at least 2 bytes [bytes.min_len]
      pattern: must match regex pattern `^a+$` [bytes.pattern]
      parts: does not have prefix 6162 [bytes.prefix]
      parts: does not have suffix 797a [bytes.suffix]
      parts: does not contain 2d [bytes.contains]
      list: must be in list [a, b] [bytes.in]
      ip: must be a valid IP address [bytes.ip]
      ipv4: value is empty, which is not a valid IPv4 address [bytes.ipv4_empty]
      ipv6: must be a valid IPv6 address [bytes.ipv6]
      uuid: value is empty, which is not a valid UUID [bytes.uuid_empty]
    Binary {"const":"YWL/","len":"YWFh","lens":"YWFhYQ==","pattern":"YWE=","parts":"YWItLXl6","list":"YQ==","ip":"AAAAAA==","ipv4":"AAAAAA==","ipv6":"AAAAAAAAAAAAAAAAAAAAAA==","uuid":"AAAAAAAAAAAAAAAAAAAAAA=="}
    Known {"duration":"1.5s","durationConst":"3s","durationList":"0.000000007s","timestamp":"2023-11-14T22:13:20.120Z","timestampConst":"1970-01-01T00:00:01Z","past":"9999-01-01T00:00:00Z","future":"1970-01-01T00:00:00Z","near":"2001-01-01T00:00:00Z"}
      duration: must be greater than 1.5s and less than 60s [duration.gt_lt]
      duration_const: must equal -3.12s [duration.const]
      duration_list: must not be in list [0.000000007s] [duration.not_in]
      timestamp: must be greater than or equal to 1969-12-31T23:59:50Z and less than 2023-11-14T22:13:20.12Z [timestamp.gte_lt]
      timestamp_const: must equal 1970-01-01T00:00:00Z [timestamp.const]
      past: must be less than now [timestamp.lt_now]
      future: must be greater than now [timestamp.gt_now]
      near: must be within 3600s of now [timestamp.within]
    Known {"duration":"59.9s","durationConst":"-3.120s","durationList":"1s","timestamp":"1969-12-31T23:59:50Z","timestampConst":"1970-01-01T00:00:00Z","past":"1970-01-01T00:00:00Z","future":"9999-01-01T00:00:00Z"}
    Known {"any":{"@type":"type.googleapis.com/rules.v1.Choices"},"anyNot":{"@type":"type.googleapis.com/rules.v1.Named"},"mask":"a.b.x,c.d,ab","maskConst":"a"}
      any: type URL must be in the allow list [any.in]
      any_not: type URL must not be in the block list [any.not_in]
      mask: must only contain paths in [a.b, c] [field_mask.in]
      mask: must not contain any paths in [c.d] [field_mask.not_in]
      mask_const: must equal paths [a, b] [field_mask.const]
    Known {"any":{"@type":"type.googleapis.com/rules.v1.Named"},"anyNot":{"@type":"type.googleapis.com/rules.v1.Choices"},"mask":"a.b.x,c","maskConst":"a,b"}
    Known {"text":"a","number":"0","flag":false,"double":0,"bytes":""}
      text: must be at least 3 characters [string.min_len]
      number: must be less than -5 [int64.lt]
      flag: must equal true [bool.const]
      double: must be greater than 1 [double.gt]
      bytes: must be 1 bytes [bytes.len]
    Known {"text":"abc","number":"-6","flag":true,"double":2,"bytes":"YQ=="}
    Lists {}
      sizes: must contain at least 2 item(s) [repeated.min_items]
      entries: map must be at least 1 entries [map.min_pairs]
    Lists {"sizes":[1,2,3,4],"items":["a","aa","aa"],"itemsOrEmpty":["","a"],"uniqueDoubles":[0,-0.0],"uniqueBytes":["YQ==","YQ=="],"colors":[1,7],"texts":["a","aa"],"textsOrEmpty":["","a"],"entries":{"a":1,"bb":4,"cc":5},"numbered":{"1":"","2":"a"},"flags":{"true":false},"named":[{"name":"Ada"},{"name":"A"}],"namedEntries":{"-3":{"name":"A"}},"unnamed":[{}],"emptyOrTwo":[1],"times":["1970-01-01T00:00:01Z"]}
      sizes: must contain no more than 3 item(s) [repeated.max_items]
      items: repeated value must contain unique items [repeated.unique]
      items[0]: must be at least 2 characters [string.min_len]
      items_or_empty[1]: must be at least 2 characters [string.min_len]
      unique_doubles: repeated value must contain unique items [repeated.unique]
      unique_bytes: repeated value must contain unique items [repeated.unique]
      colors[1]: value must be one of the defined enum values [enum.defined_only]
      texts[0]: must be at least 2 characters [string.min_len]
      texts_or_empty[1]: must be at least 2 characters [string.min_len]
      entries: map must be at most 2 entries [map.max_pairs]
      entries["a"]: key: must be at least 2 characters [string.min_len]
      entries["a"]: must be greater than 3 [int32.gt]
      numbered[1]: key: must be greater than 1 [uint64.gt]
      numbered[2]: must be 2 characters [string.len]
      flags[true]: must equal true [bool.const]
      named[1].name: must be at least 2 characters [string.min_len]
      named_entries[-3].name: must be at least 2 characters [string.min_len]
      empty_or_two: must contain at least 2 item(s) [repeated.min_items]
      times[0]: must be greater than 1970-01-01T00:00:01Z [timestamp.gt]
    Lists {"sizes":[1,2],"items":["aa","bb"],"itemsOrEmpty":["","aa"],"uniqueDoubles":["NaN","NaN",1],"uniqueBytes":["YQ==","Yg=="],"colors":[1,2],"entries":{"a\"é":4},"numbered":{"18446744073709551615":"ab"},"named":[{"name":"Ada"}],"times":["1970-01-01T00:00:02Z"]}
    Presence {}
      choice: exactly one field is required in oneof [required]
      required: value is required [required]
      required_optional: value is required [required]
      required_message: value is required [required]
      required_list: value is required [required]
      required_map: value is required [required]
      required_wrapper: value is required [required]
      required_enum: value is required [required]
      required_bytes: value is required [required]
      implicit: must be at least 1 characters [string.min_len]
    Presence {"required":"a","requiredOptional":"","requiredMessage":{},"requiredList":[0],"requiredMap":{"":""},"requiredWrapper":"0","requiredEnum":"COLOR_RED","requiredBytes":"AA==","zeroIgnored":"a","unsetIgnored":"","ignored":"","messageIgnored":{"name":"a"},"implicit":"a","number":3}
      required: must be at least 2 characters [string.min_len]
      required_optional: must be at least 2 characters [string.min_len]
      required_message.name: must be at least 2 characters [string.min_len]
      required_wrapper: must be less than -5 [int64.lt]
      zero_ignored: must be 4 characters [string.len]
      unset_ignored: must be 4 characters [string.len]
      number: must be greater than 3 [int32.gt]
    Presence {"required":"ab","requiredOptional":"ab","requiredMessage":{"name":"ab"},"requiredList":[0],"requiredMap":{"":""},"requiredWrapper":"-6","requiredEnum":"COLOR_RED","requiredBytes":"AA==","implicit":"a","text":""}
      text: must be 3 characters [string.len]
    Presence {"required":"ab","requiredOptional":"ab","requiredMessage":{"name":"ab"},"requiredList":[0],"requiredMap":{"":""},"requiredWrapper":"-6","requiredEnum":"COLOR_RED","requiredBytes":"AA==","implicit":"a","nested":{"required":"a","requiredOptional":"ab","requiredMessage":{"name":"ab"},"requiredList":[0],"requiredMap":{"":""},"requiredWrapper":"-6","requiredEnum":"COLOR_RED","requiredBytes":"AA==","implicit":"a"},"choiceMessage":{}}
      nested.choice: exactly one field is required in oneof [required]
      nested.required: must be at least 2 characters [string.min_len]
      choice_message.name: must be at least 2 characters [string.min_len]
    Choices {}
      one of a, b must be set [message.oneof]
    Choices {"a":"x","b":"y","c":1}
      only one of a, b can be set [message.oneof]
      only one of b, c, d can be set [message.oneof]
      a: must be at least 3 characters [string.min_len]
    Choices {"c":0,"d":[1],"nested":{"a":"abc"}}
      one of a, b must be set [message.oneof]
      only one of b, c, d can be set [message.oneof]
      d: must contain at least 2 item(s) [repeated.min_items]
    All {"lists":{"sizes":[1]},"presence":null}
      lists.sizes: must contain at least 2 item(s) [repeated.min_items]
      lists.entries: map must be at least 1 entries [map.min_pairs]
    Expressions {}
    Expressions {"a":60,"b":50,"text":"abc","names":["A","b","toolong"],"entries":{"a":0,"z":1},"past":"9999-01-01T00:00:00Z","short":"61s","wrapped":"3","named":{"name":"root"},"multiple":-7,"shortOrLong":"abc","sums":[5,6],"wrappedMultiple":4,"color":"COLOR_BLUE","data":"YQBi","nested":{"a":2,"b":1},"all":[{"name":"ab"},{"name":"ab"}]}
      "this.a + this.b <= 100" returned false [this.a + this.b <= 100]
      a must be less than b [order]
      text: must start with x, unlike abc [text.start]
      names: at most two names [names.size]
      names[0]: must be lower case [names.item]
      names[2]: must be at most 5 characters [string.max_len]
      entries["a"]: "this > 0 && this < 10" returned false [this > 0 && this < 10]
      entries["z"]: key: "this != 'z'" returned false [this != 'z']
      past: "this < now" returned false [this < now]
      short: "this <= duration('1m')" returned false [this <= duration('1m')]
      wrapped: "this > 3" returned false [this > 3]
      named: "!has(this.name) || this.name != 'root'" returned false [!has(this.name) || this.name != 'root']
      multiple: must be greater than or equal to 0 [int32.gte]
      multiple: must be a multiple of 5 [int32.multiple_of]
      short_or_long: must be short or long [string.outside]
      sums: the first and the last must not exceed the sum [repeated.sum]
      wrapped_multiple: must be a multiple of 3 [int32.multiple_of]
      color: "this != 2" returned false [this != 2]
      data: "!this.contains(b'\x00')" returned false [!this.contains(b'\x00')]
      nested: a must be less than b [order]
      all: "this.map(x, x.name).unique()" returned false [this.map(x, x.name).unique()]
    Expressions {"a":40,"b":50,"text":"xbc","names":["a","b"],"entries":{"a":1},"past":"1999-01-01T00:00:00Z","short":"60s","wrapped":"4","named":{},"multiple":10,"shortOrLong":"abcde","sums":[5,5],"wrappedMultiple":3,"color":"COLOR_RED","data":"YWI=","all":[{"name":"ab"},{"name":"abc"}]}
      named.name: must be at least 2 characters [string.min_len]
    Older {}
      choice: exactly one field is required in oneof [required]
      name: must be at least 2 characters [string.min_len]
      skipped: value is required [required]
    Older {"name":"ab","emptyOptional":"","emptyWrapper":0,"items":["","abc","ab"],"entries":{"a":{},"abc":{}},"skipped":{},"disabled":{"both":"ab","older":{}},"both":"ab","email":"A B <a@b.c>","hostname":"10.1","address":"1.2.3","ratio":"NaN","first":{}}
      items[2]: must be 3 characters [string.len]
      entries["abc"]: key: must be at most 2 characters [string.max_len]
      disabled.both: must be at most 1 characters [string.max_len]
      both: must be at most 1 characters [string.max_len]
    Older {"name":"abcde","emptyOptional":"a","emptyWrapper":1,"skipped":{},"email":"A <b","hostname":"-","address":"a_b","ratio":1,"second":""}
      name: must be at most 4 characters [string.max_len]
      empty_optional: must be at least 2 characters [string.min_len]
      empty_wrapper: must be greater than or equal to 2 [uint32.gte]
      email: must be a valid email address [string.email]
      hostname: must be a valid hostname [string.hostname]
      address: must be a valid hostname, or ip address [string.address]
      ratio: must not be in list [1] [double.not_in]
    """#
}
